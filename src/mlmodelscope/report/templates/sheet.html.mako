<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${title} – MLModelScope</title>
<style>${style | n}
.facts { gap: .875rem 2.5rem; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); }
.panel { margin-top: 1rem; }
.panel svg.plot { display: block; margin: 0 auto; }
</style>
</head>
<body>
<div class="page">
<header>
  <div class="brand">
    <svg width="30" height="16" viewBox="0 0 30 16" aria-hidden="true"><path d="M1 2v12M29 2v12M1 8h28"/><circle cx="17" cy="8" r="5"/></svg>
    <span>MLModelScope</span>
  </div>
  <h1>${title}</h1>
  <p class="lede">${lede}</p>
% if facts:
  <dl class="facts">
% for name, text in facts:
    <div><dt>${name}</dt><dd><bdi>${text}</bdi></dd></div>
% endfor
  </dl>
% endif
  <nav aria-label="Sections">
% for section in sections:
    <a href="#${section.anchor}">${section.title}</a>
% endfor
  </nav>
</header>
<main>
% for section in sections:
<section id="${section.anchor}" aria-labelledby="${section.anchor}-title">
  <h2 id="${section.anchor}-title">${section.title}</h2>
% if section.about:
  <p class="about">${section.about}</p>
% endif
% for chart in section.plots:
  <div class="panel">${chart | n}</div>
% endfor
% if section.rows:
  <div class="panel scroll">
    <table>
      <thead><tr>
% for name in section.head:
        <th scope="col">${name}</th>
% endfor
      </tr></thead>
      <tbody>
% for row in section.rows:
      <tr>
% for cell in row:
        <td><bdi>${cell}</bdi></td>
% endfor
      </tr>
% endfor
      </tbody>
    </table>
  </div>
% endif
% if section.notes:
  <aside class="note" aria-label="Notes"><ul>
% for note in section.notes:
    <li><bdi>${note}</bdi></li>
% endfor
  </ul></aside>
% endif
</section>
% endfor
</main>
<footer>
Written by MLModelScope ${by}. This file is complete in itself: it loads nothing from anywhere and runs no script.
</footer>
</div>
</body>
</html>
