<%page args="asked"/>
      <div class="asked">
% for text, about in asked.prompts:
      <details class="asked-prompt"${" open" if len(text) < 1200 else ""}><summary>Prompt${f" ({about})" if about else ""}</summary><pre dir="auto" tabindex="0">${text or "(empty)"}</pre></details>
% endfor
% if asked.choices:
      <div class="asked-choices scroll" tabindex="0" role="region" aria-label="Choices"><table>
        <thead><tr><th scope="col">Choice</th>\
% for title, is_used in asked.choices.rules:
<th scope="col">${title}${" (used)" if is_used else ""}</th>\
% endfor
</tr></thead>
        <tbody>
% for row in asked.choices.rows:
        <tr><th scope="row"><bdi>${row.text or "(empty)"}</bdi>${" ✓" if row.is_right else ""}\
% if row.is_right:
<small>right</small>\
% endif
</th>\
% for bar in row.bars:
<td class="${"chosen" if bar.is_chosen else "other"}"><span class="bar" style="--share: ${f"{100 * bar.share:.1f}"}%"></span>${bar.value}\
% if bar.is_chosen:
 <small>chosen</small>\
% endif
</td>\
% endfor
</tr>
% endfor
        </tbody></table></div>
% if asked.choices.more:
      <p class="muted">and ${words.plural(asked.choices.more, "more choice")}</p>
% endif
% endif
% for line in asked.lines:
      <div class="asked-tokens"><p class="muted">${f"Tokens of {line.name}" if line.name else "Tokens"}, the less likely the darker</p>
      <p class="tokens" dir="auto" tabindex="0" role="region" aria-label="${line.name or "Tokens"}">\
% for piece in line.pieces:
<span style="--depth: ${piece.depth}%" title="${piece.note}">${piece.text}</span>\
% endfor
</p>\
% if line.more:
<p class="muted">and ${words.plural(line.more, "more token")}</p>\
% endif
</div>
% endfor
      </div>
