/* What the page does beyond links and a form: "/" goes to the box, arrow keys walk the hits, and where
   the server answers at once the results follow the typing. Everything works without it. */
(function () {
  "use strict";
  var main = document.querySelector("main.vecsearch");
  var form = main.querySelector("form.vs-form");
  var box = form && form.elements.q;
  var page = main.dataset.base + "/ext/search";
  var slashKey = "vecsearch-slash-off";

  var engine = document.createElement("link");
  engine.rel = "search";
  engine.type = "application/opensearchdescription+xml";
  engine.title = document.title;
  engine.href = page + "?format=opensearch";
  document.head.append(engine);

  function slashOff() {
    try { return localStorage.getItem(slashKey) === "1"; } catch (refused) { return false; }
  }

  function hitLinks() {
    return Array.from(main.querySelectorAll(".vs-hit h3 a"));
  }

  function walk(event) {
    var links = hitLinks(), at = links.indexOf(document.activeElement);
    if (!links.length || (at < 0 && document.activeElement !== box)) return;
    event.preventDefault();
    at += event.key === "ArrowDown" ? 1 : -1;
    (at < 0 ? box : links[Math.min(at, links.length - 1)]).focus();
  }

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "/" && box && !slashOff() && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && !event.target.isContentEditable) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      walk(event);
    }
  });

  function slashSwitch() {
    var foot = main.querySelector(".vs-foot:not(.vs-views)"), button = document.createElement("button");
    if (!foot || !box) return;
    button.type = "button";
    button.className = "vs-slash";
    function label() { button.textContent = slashOff() ? "Let the / key go to the box" : "Turn the / key off"; }
    button.addEventListener("click", function () {
      try { localStorage.setItem(slashKey, slashOff() ? "0" : "1"); } catch (refused) { button.disabled = true; }
      label();
    });
    label();
    foot.append(button);
  }
  slashSwitch();

  if (!document.getElementById("vs-results") || !box) return;

  /* As you type: only while answers come in under data-live milliseconds. */
  var entry = performance.getEntriesByType("navigation")[0];
  var took = entry ? entry.responseEnd - entry.requestStart : Infinity;
  var timer = 0, waiting = null, settled = true, composing = false;

  function address() {
    var asked = new URLSearchParams(new FormData(form));
    return page + "?" + asked;
  }

  function show(url) {
    if (waiting) waiting.abort();
    var mine = waiting = new AbortController(), results = document.getElementById("vs-results");
    var began = performance.now();
    results.setAttribute("aria-busy", "true");
    return fetch(url, {signal: mine.signal, credentials: "same-origin"}).then(function (reply) {
      return reply.text();
    }).then(function (text) {
      took = performance.now() - began;
      var fresh = new DOMParser().parseFromString(text, "text/html"), part = fresh.getElementById("vs-results");
      if (!part) { location.assign(url); return; }
      results.replaceWith(document.adoptNode(part));
      document.title = fresh.title;
      slashSwitch();
      var count = main.querySelector(".vs-count, .vs-message");
      document.getElementById("vs-live").textContent = count ? count.textContent : "";
    }).catch(function (error) {
      results.removeAttribute("aria-busy");
      if (error.name !== "AbortError") took = Infinity;
    });
  }

  box.addEventListener("compositionstart", function () { composing = true; });
  box.addEventListener("compositionend", function () { composing = false; });
  box.addEventListener("change", function () { settled = true; });
  box.addEventListener("input", function () {
    clearTimeout(timer);
    if (took > Number(form.dataset.live)) return;
    timer = setTimeout(function () {
      if (composing) return;
      var url = address();
      history[settled ? "pushState" : "replaceState"](null, "", url);
      settled = false;
      show(url);
    }, 120);
  });
  window.addEventListener("popstate", function () {
    var asked = new URLSearchParams(location.search);
    Array.from(form.elements).forEach(function (field) {
      if (field.name) field.value = asked.get(field.name) || (field.name === "project" ? "*" : field.name === "sort" ? "relevance" : "");
    });
    settled = true;
    show(location.href.replace(/#.*/, ""));
  });
})();
