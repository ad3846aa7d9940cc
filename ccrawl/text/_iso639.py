"""The 176 labels of lid.176 (codes of Wikipedia's editions) as ISO 639-3.

Where a label is a macrolanguage (ar, fa, zh, no, sw ...), so is the code. Three labels name no living code of
ISO 639-3: `eml` was split in 2009 (egl is the Emilian of it), `nah` is a group (nci is the Classical
Nahuatl that its Wikipedia is written in) and `bh` is a group (bho, Bhojpuri, is its Wikipedia's language).
`als` is Alemannic there (gsw), not Tosk Albanian as in ISO 639-3.
"""

from __future__ import annotations

_PAIRS = """
af afr  als gsw  am amh  an arg  ar ara  arz arz  as asm  ast ast  av ava  az aze  azb azb  ba bak  bar bar
bcl bcl  be bel  bg bul  bh bho  bn ben  bo bod  bpy bpy  br bre  bs bos  bxr bxr  ca cat  cbk cbk  ce che
ceb ceb  ckb ckb  co cos  cs ces  cv chv  cy cym  da dan  de deu  diq diq  dsb dsb  dty dty  dv div  el ell
eml egl  en eng  eo epo  es spa  et est  eu eus  fa fas  fi fin  fr fra  frr frr  fy fry  ga gle  gd gla
gl glg  gn grn  gom gom  gu guj  gv glv  he heb  hi hin  hif hif  hr hrv  hsb hsb  ht hat  hu hun  hy hye
ia ina  id ind  ie ile  ilo ilo  io ido  is isl  it ita  ja jpn  jbo jbo  jv jav  ka kat  kk kaz  km khm
kn kan  ko kor  krc krc  ku kur  kv kom  kw cor  ky kir  la lat  lb ltz  lez lez  li lim  lmo lmo  lo lao
lrc lrc  lt lit  lv lav  mai mai  mg mlg  mhr mhr  min min  mk mkd  ml mal  mn mon  mr mar  mrj mrj  ms msa
mt mlt  mwl mwl  my mya  myv myv  mzn mzn  nah nci  nap nap  nds nds  ne nep  new new  nl nld  nn nno  no nor
oc oci  or ori  os oss  pa pan  pam pam  pfl pfl  pl pol  pms pms  pnb pnb  ps pus  pt por  qu que  rm roh
ro ron  ru rus  rue rue  sa san  sah sah  sc srd  scn scn  sco sco  sd snd  sh hbs  si sin  sk slk  sl slv
so som  sq sqi  sr srp  su sun  sv swe  sw swa  ta tam  te tel  tg tgk  th tha  tk tuk  tl tgl  tr tur  tt tat
tyv tyv  ug uig  uk ukr  ur urd  uz uzb  vec vec  vep vep  vi vie  vls vls  vo vol  wa wln  war war  wuu wuu
xal xal  xmf xmf  yi yid  yo yor  yue yue  zh zho
"""

ISO_639_3: dict[str, str] = dict(zip(_PAIRS.split()[::2], _PAIRS.split()[1::2], strict=True))
