// Script of the server's pages: signs in with the address that the terminal shows, refreshes the
// parts of pages that change, and reports when the server does not answer. Pages work without it,
// except for the live charts.

/** Signs in with the token after the # of the address, which browsers do not send: moves it from the
 *  address into the form. */
function signIn() {
  const form = document.getElementById("login");
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!form || !token) return;
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.submit();
}

/** Shows at the top of the page why no new data comes; `null` removes the notice. */
function connection(why) {
  let notice = document.getElementById("connection");
  if (!why) return notice?.remove();
  if (!notice) {
    notice = document.createElement("p");
    notice.id = "connection";
    notice.className = "notice";
    notice.setAttribute("role", "alert");
    document.getElementById("main").prepend(notice);
  }
  const text = `${why}. This page is out of date; it continues by itself.`;
  if (notice.textContent !== text) notice.textContent = text;
}

/** Requests the part of the page that changes at an interval. Does not replace it while it is in use. */
function refresh(part) {
  let [asking, shown] = [false, null];
  setInterval(async () => {
    if (document.hidden || asking) return;
    asking = true;
    try {
      const answer = await fetch(part.dataset.refresh, { redirect: "error", signal: AbortSignal.timeout(2500) });
      const text = answer.ok ? await answer.text() : null;
      connection(null);
      const used = part.contains(document.activeElement) || part.querySelector("details[open]");
      if (text !== null && !used && text !== shown) {
        part.innerHTML = text;
        shown = text;
      }
    } catch {
      connection("The server does not answer");
    }
    asking = false;
  }, part.dataset.every ?? 2000);
}

signIn();
// A tab that is already open gets the address without loading the page again.
addEventListener("hashchange", signIn);
for (const part of document.querySelectorAll("[data-refresh]")) refresh(part);
const submit = document.getElementById("submit");
if (submit) new Submit(submit);
const live = document.getElementById("live");
if (live) new Live(live);
const profile = document.getElementById("live-profile");
if (profile) new LiveProfile(profile);
