<%def name="source(text)">
% if text.startswith(("https://", "http://")):
<a href="${text}" rel="noopener noreferrer nofollow">source</a>
% else:
<span class="muted">(<bdi>${words.shorten(text)}</bdi>)</span>
% endif
</%def>

<%def name="bar(share)"><span class="bar" aria-hidden="true"><i style="width:${f"{100 * share:.1f}"}%"></i></span></%def>
