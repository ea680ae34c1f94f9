/** The colors of the phases: warm while traffic is being taken away, cold while the pod is out, green while it comes back. */
const PHASES: readonly { states: readonly string[]; light: string; dark: string }[] = [
  { states: ['checking', 'claiming'], light: '#9aa3b2', dark: '#6b7587' },
  { states: ['draining'], light: '#f2b134', dark: '#d99a1c' },
  { states: ['emptying'], light: '#e8833a', dark: '#d0702c' },
  { states: ['patching'], light: '#a560c9', dark: '#b578d6' },
  { states: ['rollingBack'], light: '#c2334d', dark: '#e0566e' },
  { states: ['restarting'], light: '#5b7fde', dark: '#6f92ee' },
  { states: ['warming'], light: '#58b3e0', dark: '#3f9ccb' },
  { states: ['restoring', 'readmitting'], light: '#2f9e73', dark: '#35ad7f' },
  { states: ['verifying'], light: '#86cfae', dark: '#5d9f83' },
  { states: ['settling'], light: '#8a6d4b', dark: '#b08f68' },
  { states: ['closing'], light: '#c3c9d3', dark: '#5b6472' },
  { states: ['queued', 'deriving'], light: 'transparent', dark: 'transparent' },
]

function phaseColours(scheme: 'light' | 'dark'): string {
  return PHASES.flatMap(({ states, ...colours }) => states.map((state) => `--${state}:${colours[scheme]};`)).join('')
}

const bars = PHASES.flatMap(({ states }) => states)
  .map((state) => `.p-${state}{fill:var(--${state});stroke:var(--${state});background:var(--${state})}`)
  .join('\n')

export const STYLE = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b2230;--soft:#5c6678;--line:#dfe3ea;--stripe:#f3f5f8;
--link:#2352c4;--good:#17774e;--good-bg:#e0f4ea;--bad:#b3203a;--bad-bg:#fde7ea;--warn:#8f5600;--warn-bg:#fdf0d8;
--calm:#4d5769;--calm-bg:#e9ecf1;--mark:#c41f3c;--odd:#b06a00;${phaseColours('light')}}
@media (prefers-color-scheme:dark){:root{--page:#10141b;--card:#181e28;--ink:#e5e9f0;--soft:#98a3b6;--line:#2b3442;--stripe:#1d2430;
--link:#8fb2ff;--good:#6fd6a6;--good-bg:#12352a;--bad:#ff8fa1;--bad-bg:#421b24;--warn:#f3bd63;--warn-bg:#3b2c10;
--calm:#b3bdcd;--calm-bg:#28313e;--mark:#ff6b82;--odd:#f0ac3f;${phaseColours('dark')}}}
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
font-variant-numeric:tabular-nums}
main,header,footer{max-width:1240px;margin:0 auto;padding:0 24px}
header{padding-top:32px}
h1{font-size:26px;line-height:1.25;margin:0;font-weight:650;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:17px;margin:30px 0 10px;font-weight:650}
h3{font-size:12px;margin:18px 0 6px;font-weight:600;color:var(--soft);text-transform:uppercase;letter-spacing:.05em}
p{margin:6px 0}
a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
code,pre,.id{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.brand{color:var(--soft);font-size:13px;margin:0 0 4px}
.lead{display:flex;flex-wrap:wrap;gap:10px 14px;align-items:center;margin-top:10px}
.lead p{margin:0;overflow-wrap:anywhere}
.badge{display:inline-block;padding:1px 9px;border-radius:99px;font-size:13px;font-weight:600;white-space:nowrap}
.good{color:var(--good);background:var(--good-bg)}
.bad{color:var(--bad);background:var(--bad-bg)}
.warn{color:var(--warn);background:var(--warn-bg)}
.calm{color:var(--calm);background:var(--calm-bg)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(185px,1fr));gap:12px 22px;margin:20px 0 0;padding:14px 18px;
background:var(--card);border:1px solid var(--line);border-radius:10px}
.facts div{min-width:0}
.facts dt{color:var(--soft);font-size:12px}
.facts dd{margin:0;font-weight:550;overflow-wrap:anywhere}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin-top:18px;font-size:14px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:auto}
.tall{max-height:78vh}
.tall thead th{position:sticky;top:0;background:var(--card);box-shadow:inset 0 -1px var(--line)}
.note{border-left:3px solid var(--warn);background:var(--card);padding:8px 14px;margin:12px 0;border-radius:0 8px 8px 0}
.note ul{margin:4px 0;padding-left:20px}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th{font-size:12px;font-weight:600;color:var(--soft);text-align:left;white-space:nowrap}
th,td{padding:6px 12px;border-bottom:1px solid var(--line);vertical-align:top;unicode-bidi:isolate}
tbody tr:last-child td{border-bottom:0}
tbody tr:hover{background:var(--stripe)}
td{overflow-wrap:break-word}
td.name{max-width:280px;min-width:80px;overflow-wrap:anywhere}
.n{text-align:right;white-space:nowrap}
.w{white-space:nowrap}
.soft{color:var(--soft)}
.controls{display:none;gap:10px;align-items:center;flex-wrap:wrap;margin:10px 0}
.js .controls{display:flex}
.controls input,.controls select,.controls button{font:inherit;font-size:14px;color:var(--ink);background:var(--card);
border:1px solid var(--line);border-radius:7px;padding:5px 10px}
.controls input{min-width:220px}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;margin:0 0 10px;padding:0;font-size:12.5px;color:var(--soft)}
.legend i{display:inline-block;width:12px;height:10px;border-radius:2px;margin-right:6px}
.legend .tick{width:2px;height:12px;background:var(--mark)}
.legend .odd{background:var(--odd)}
.lanes{list-style:none;margin:0;padding:0}
.lane{display:grid;grid-template-columns:minmax(80px,170px) 1fr;gap:12px;align-items:center;padding:0 14px;
content-visibility:auto;contain-intrinsic-size:auto 24px;height:24px}
.lane:nth-child(even){background:var(--stripe)}
.lane>a,.lane>span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-size:12.5px;unicode-bidi:isolate}
.lane svg{display:block;width:100%;height:24px;overflow:visible}
.axis{position:sticky;top:0;z-index:1;background:var(--card);border-bottom:1px solid var(--line);height:32px}
.axis svg{height:32px}
.axis text{fill:var(--soft);font-size:11px;text-anchor:middle}
.axis text.first{text-anchor:start}
.axis text.last{text-anchor:end}
.grid{stroke:var(--line);stroke-width:1}
.gap{fill:var(--calm-bg)}
.bar{stroke-width:1}
.tick{stroke:var(--mark);stroke-width:2}
.odd{stroke:var(--odd);stroke-width:2}
.head{fill:var(--mark)}
.oddhead{fill:var(--odd)}
${bars}
details.pod{background:var(--card);border:1px solid var(--line);border-radius:10px;margin:8px 0;content-visibility:auto;
contain-intrinsic-size:auto 40px}
details.pod>summary{cursor:pointer;padding:8px 14px;font-weight:550;overflow-wrap:anywhere}
td>.id{overflow-wrap:break-word;min-width:130px}
details.pod>div{padding:0 14px 14px;overflow:auto}
pre{background:var(--stripe);border:1px solid var(--line);border-radius:7px;padding:10px 12px;white-space:pre-wrap;margin:6px 0}
footer{color:var(--soft);font-size:12.5px;padding-top:28px;padding-bottom:40px}
@media (max-width:640px){main,header,footer{padding-left:14px;padding-right:14px}}
@media print{body{background:#fff}.controls{display:none!important}.axis{position:static}.lane,details.pod{content-visibility:visible;break-inside:avoid}
details.pod::details-content{content-visibility:visible;display:block}.card{overflow:visible;max-height:none}}
`
