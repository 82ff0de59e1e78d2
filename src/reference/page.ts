/** The frame of the pages that the service serves itself: one self-contained HTML document that loads nothing from elsewhere. */

/** Text made safe for HTML. */
export const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Safe HTML of a description: paragraphs, with `code` marked. */
export const prose = (text: string): string =>
  text
    .split(/\n\n+/)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')

/** Safe HTML of one line, with `code` marked. */
export const inline = (text: string): string => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const style = `
:root{--ink:#1a2230;--soft:#5b6675;--line:#dfe4ea;--page:#fff;--wash:#f5f7f9;--accent:#0b6e4f;--get:#0b6e4f;--post:#1f5fae;--patch:#8a5a00;--delete:#b3261e;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9ef;--soft:#9aa6b4;--line:#2b343f;--page:#12171d;--wash:#1a2129;--accent:#57c99b;--get:#57c99b;--post:#7fb2f0;--patch:#e0b060;--delete:#f08c84}}
*{box-sizing:border-box}html{scroll-padding-top:1rem}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:break-word}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:2px}
a:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
.frame{display:grid;grid-template-columns:17rem minmax(0,1fr);max-width:84rem;margin:0 auto}
nav{position:sticky;top:0;height:100vh;overflow-y:auto;padding:1.5rem 1rem;border-right:1px solid var(--line);font-size:.875rem}
nav .brand{font-size:1.15rem;font-weight:700;color:var(--ink);text-decoration:none}
nav h2{border:0;padding:0;font-size:.75rem;text-transform:uppercase;letter-spacing:.06em;color:var(--soft);margin:1.4rem 0 .3rem}
nav ul{list-style:none;margin:0;padding:0}nav li a{display:block;padding:.15rem .4rem;border-radius:4px;color:var(--ink);text-decoration:none}
nav li a:hover{background:var(--wash)}
main{padding:2rem clamp(1rem,4vw,3.5rem) 5rem;max-width:60rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 1rem}h2{font-size:1.5rem;margin:3rem 0 1rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1.1rem;margin:2.5rem 0 .5rem}h4{font-size:.8rem;text-transform:uppercase;letter-spacing:.05em;color:var(--soft);margin:1.4rem 0 .4rem}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875em}
code{background:var(--wash);border-radius:4px;padding:.1em .3em}
pre{background:var(--wash);border:1px solid var(--line);border-radius:8px;padding:.9rem 1rem;overflow-x:auto;line-height:1.45}pre code{background:none;padding:0}
.call{display:flex;gap:.6rem;align-items:baseline;flex-wrap:wrap;font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.95rem}
.verb{font-weight:700;font-size:.75rem;letter-spacing:.04em;border:1px solid currentColor;border-radius:4px;padding:.05rem .4rem}
.GET{color:var(--get)}.POST{color:var(--post)}.PATCH{color:var(--patch)}.DELETE{color:var(--delete)}
table{width:100%;border-collapse:collapse;font-size:.9rem}th,td{text-align:left;vertical-align:top;padding:.45rem .6rem .45rem 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;font-size:.8rem}td p{margin:0}td:first-child{white-space:nowrap}.scroll{overflow-x:auto}
.soft{color:var(--soft)}.required{color:var(--delete);font-size:.75rem}
details{border:1px solid var(--line);border-radius:8px;margin:.6rem 0;padding:0 1rem}details>summary{cursor:pointer;padding:.6rem 0;font-weight:600}details[open]{padding-bottom:.8rem}
.prose td:first-child{white-space:normal}.prose td,.prose th{padding-right:1rem}.anchor{color:inherit;text-decoration:none}.anchor:hover{text-decoration:underline}
.number{display:inline-block;min-width:2.6rem;margin-right:.4rem;font-variant-numeric:tabular-nums;font-size:.85em;color:var(--soft);text-decoration:none}.number:hover{text-decoration:underline}
@media(min-width:75rem){.number{position:absolute;left:-3rem;top:.15rem}.prose p{position:relative}}
.prose p:target,.prose h2:target{background:var(--wash);box-shadow:0 0 0 .4rem var(--wash);border-radius:2px}nav li a[aria-current]{background:var(--wash);font-weight:600}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--page);padding:.5rem 1rem;z-index:2}
@media(max-width:60rem){.prose td+td code{overflow-wrap:anywhere}.frame{display:block}nav{position:static;height:auto;max-height:none;border-right:0;border-bottom:1px solid var(--line)}nav.long ul,nav.long h2{display:none}nav.long .short ul{display:block}h1{font-size:1.6rem}td:first-child{white-space:normal}}
`

/** A whole page. `nav` and `main` are HTML. */
export const page = (title: string, nav: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="frame">
<nav class="long" aria-label="Contents"><a class="brand" href="/docs">Posthorn</a>${nav}</nav>
<main id="content">${main}</main>
</div>
</body>
</html>
`

/** Nothing is loaded, nothing runs. */
export const pageHeaders = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const
