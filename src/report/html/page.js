"use strict";
(function () {
  const choosers = {}; /* of drawings: what chooses the box of a key */

  function key(row, column) {
    const cell = row.cells[column];
    return cell.dataset.n === undefined ? cell.textContent : Number(cell.dataset.n);
  }

  function sort(table, column, head) {
    const down = head.getAttribute("aria-sort") !== "descending";
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort(function (a, b) {
      const x = key(a, column), y = key(b, column);
      const order = x < y ? -1 : x > y ? 1 : 0;
      return down ? -order : order;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    table.tBodies[0].replaceChildren(...rows);
  }

  function turnIntoButton(cell, label, action) {
    const button = document.createElement("button");
    button.type = "button";
    if (label) button.title = label;
    button.replaceChildren(...cell.childNodes);
    cell.replaceChildren(button);
    button.addEventListener("click", action);
  }

  function side(box, name) { return Number(box.getAttribute(name)); }

  /* The box under the pointer, or the one that the arrow keys chose, is told of in the panel beside its drawing. */
  function explore(id, selector) {
    const panel = document.getElementById(id + "-panel");
    if (!panel) return;
    panel.hidden = false;
    panel.textContent = "Point at the drawing, or step through it with the arrow keys.";
    for (const drawing of document.querySelectorAll("#" + id + " figure svg")) exploreOne(id, drawing, panel, selector);
  }

  function exploreOne(id, drawing, panel, selector) {
    const boxes = Array.from(drawing.querySelectorAll(selector));
    const index = new Map(boxes.map(function (box, i) { return [box, i]; }));
    let chosen = -1;

    function show(i) {
      if (i < 0 || i >= boxes.length || i === chosen) return;
      if (chosen >= 0) boxes[chosen].classList.remove("chosen");
      chosen = i;
      boxes[i].classList.add("chosen");
      panel.textContent = boxes[i].querySelector("title").textContent;
    }

    /* The nearest box above or below that meets the chosen one in time. */
    function beside(up) {
      if (chosen < 0) return 0;
      const at = boxes[chosen], middle = side(at, "x") + side(at, "width") / 2;
      let best = chosen;
      boxes.forEach(function (box, i) {
        if (middle < side(box, "x") || middle >= side(box, "x") + side(box, "width")) return;
        const y = side(box, "y"), from = side(at, "y");
        const than = best !== chosen ? side(boxes[best], "y") : up ? -1 : Infinity;
        if (up ? y < from && y > than : y > from && y < than) best = i;
      });
      return best;
    }

    drawing.setAttribute("tabindex", "0");
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-describedby", panel.id);
    drawing.addEventListener("pointerover", function (event) {
      const box = event.target.closest(selector);
      if (box) show(index.get(box));
    });
    drawing.addEventListener("keydown", function (event) {
      const next = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: boxes.length - 1 }[event.key];
      if (next !== undefined) show(next);
      else if (event.key === "ArrowUp" || event.key === "ArrowDown") show(beside(event.key === "ArrowUp"));
      else return;
      event.preventDefault();
    });
    const byKey = new Map();
    boxes.forEach(function (box, i) { if (box.dataset.b) byKey.set(box.dataset.b, i); });
    choosers[id] = function (name) {
      if (!byKey.has(name)) return false;
      show(byKey.get(name));
      drawing.scrollIntoView({ block: "nearest" });
      drawing.focus({ preventScroll: true });
      return true;
    };
  }

  explore("curve", "rect.column");
  explore("map", "rect.t");
  explore("search", ".mark");
  explore("batches", ".mark");

  for (const table of document.querySelectorAll("table.sortable"))
    Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
      turnIntoButton(head, "", function () { sort(table, column, head); });
    });

  /* A tensor's row leads to its box. */
  if (choosers.map)
    for (const row of document.querySelectorAll("#alive tr[data-tensor]"))
      turnIntoButton(row.cells[0], "show in the map", function () { choosers.map(row.dataset.tensor); });
}());
