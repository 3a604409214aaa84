"""The frame of every page we write: self-contained HTML that asks nothing of the network."""

import html

from halfmask.version import __version__

__all__ = ["facts", "framed"]


def framed(title: str, body: str) -> str:
    """Return a whole page; `body` is HTML, the title plain text."""
    name = html.escape(title)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>
<body><main><h1>{name}</h1>{body}
<footer>halfmask {html.escape(__version__)}</footer>
</main></body></html>
"""


def facts(pairs: list[tuple[str, str]]) -> str:
    """A list of names and what is said of them; everything is escaped."""
    rows = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>" for name, value in pairs
    )
    return f"<dl>{rows}</dl>"


_STYLE = """
:root{color-scheme:light dark;--ink:#1d1d1f;--paper:#fff;--faint:#6b6b70;--line:#d8d8dc;
--one:#1763b6;--other:#b4510a;--good:#1a6b33;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#eee;--paper:#17171a;--faint:#a5a5ab;--line:#3a3a40;
--one:#6fb1f5;--other:#f2a25c;--good:#7fd08f;--bad:#ff8a80}}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:70rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.1rem;margin:0 0 .5rem;overflow-wrap:anywhere}
section{border-top:1px solid var(--line);padding:1rem 0}
.good,.bad,.plain{font-weight:600}.good{color:var(--good)}.bad{color:var(--bad)}
.side{display:grid;grid-template-columns:minmax(0,1fr);gap:1rem;align-items:start}
@media (min-width:50rem){.side{grid-template-columns:minmax(0,3fr) minmax(0,2fr)}}
dl{margin:0}@media (min-width:34rem){.made dl{display:grid;gap:.1rem 1rem;
grid-template-columns:9rem minmax(0,1fr)}.made dd{margin:0}}
dt{color:var(--faint);font-size:.85rem}dd{margin:0 0 .5rem;overflow-wrap:anywhere}
figure{margin:0;max-width:32rem}svg{width:100%;height:auto;display:block}
svg text{fill:currentColor;font-size:12px}.label{margin:.2rem 0;color:var(--faint);font-size:.85rem}
path{fill-opacity:.15;stroke-width:1.5}path.one{fill:var(--one)}path.other{fill:var(--other)}
.one{stroke:var(--one)}.other{stroke:var(--other);stroke-dasharray:4 2}
line{stroke-width:2}.axis{stroke:var(--line)}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{text-align:left;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line);
overflow-wrap:anywhere}
th{font-weight:500}thead th{color:var(--faint);font-size:.85rem;font-weight:400}
th.number{text-align:right}
.big{font-size:2rem;margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.made{border-left:3px solid var(--line);padding-left:.8rem;margin-top:.5rem}
section h2+p{margin:0 0 .5rem}
.side+h2{margin-top:1rem}
td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.bar{width:38%}td.bar svg{height:18px}.dot{fill:var(--one);stroke:none}
@media (min-width:30rem){.ends{white-space:nowrap;padding-left:.6rem}}
@media (max-width:40rem){td.bar,th.bar{display:none}}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem;border-left:3px solid var(--line);
padding-left:.8rem}
@media print{@page{margin:1.5cm}body{font-size:13px}main{max-width:none;padding:0}
h2,h2+p,thead{break-after:avoid}tr,dl,.made,.big{break-inside:avoid}
tr:nth-child(-n+2){break-after:avoid}tr:nth-last-child(-n+2){break-before:avoid}
.made{break-before:avoid}
section{padding:.7rem 0}.big{font-size:1.5rem}
.side dl,.made dl{display:grid;gap:.1rem 1rem;grid-template-columns:9rem minmax(0,1fr)}
.side dd,.made dd{margin:0}}
footer{border-top:1px solid var(--line);padding:1rem 0;color:var(--faint);font-size:.85rem}
"""
