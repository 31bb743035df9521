<%page args="own"/>
% for title, text in own.texts:
      <div class="own-text" tabindex="0" role="region" aria-label="${title}"><p dir="auto">${text or "(empty)"}</p></div>
% endfor
% if own.cells:
      <div class="own-cells scroll" tabindex="0" role="region" aria-label="Row"><table><tbody>
% for column, value in own.cells:
        <tr><th scope="row"><bdi>${column}</bdi></th><td><bdi>${value}</bdi></td></tr>
% endfor
      </tbody></table>
% if own.more_cells:
      <p class="muted">and ${words.plural(own.more_cells, "more column")}</p>
% endif
      </div>
% endif
% if own.sound:
      <div class="own-sound">
      ${own.sound.chart | n}
% if own.sound.uri:
      <audio controls preload="metadata" src="${own.sound.uri}"></audio>
% else:
      <p class="muted">${words.shorten(own.sound.reason, 120)}</p>
% endif
% if own.sound.remark:
      <p class="muted">${own.sound.remark}</p>
% endif
% for each in own.heard:
% if each.uri:
      <figure class="heard${" is-wave" if each.is_wave else ""}"><img src="${each.uri}" alt="What the model hears: ${each.about}"><figcaption>What the model hears: ${each.about}</figcaption></figure>
% else:
      <p class="muted">What the model hears cannot be drawn: ${words.shorten(each.about, 120)}</p>
% endif
% endfor
      </div>
% endif
