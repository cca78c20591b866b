// Pointers over a map: they hover over it, click it, pan it and, two of them, zoom it.
(() => {
  const SLOP = 6; // pixels that a pointer may move during a click
  const ZOOM_STEP = 1.6; // largest factor of a turn of the wheel, and that of buttons

  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const centreOf = (points) => (
    [0, 1].map((k) => points.reduce((sum, point) => sum + point[k], 0) / points.length)
  );
  const spreadOf = ([first, second]) => Math.hypot(first[0] - second[0], first[1] - second[1]);

  // Let pointers move the map in a plane. Positions are pixels in the plane. The map has:
  // takes(event): whether a pointer there is about the map;
  // hover(position) and leave(): a mouse is over the map, or no longer;
  // click(position, isTouch); pan(dx, dy); zoomAt(factor, position);
  // drag(start, position): returns true if the map uses a drag itself, instead of panning;
  // drop(start, position): the end of such a drag; without a position if it was broken off;
  // wheelZooms(): whether the wheel alone zooms the map; otherwise it scrolls the page, and
  // explainWheel() says how to zoom.
  const followPointers = (plane, map) => {
    const pointers = new Map(); // id -> position of each pointer that is down
    let gesture = null; // what they have done so far

    const inPlane = ({ clientX, clientY }) => {
      const box = plane.getBoundingClientRect();
      return [clientX - box.left, clientY - box.top];
    };

    plane.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !map.takes(event)) return;
      plane.setPointerCapture(event.pointerId);
      const start = inPlane(event);
      pointers.set(event.pointerId, start);
      if (pointers.size === 1) gesture = { start, hasMoved: false, isDrag: false };
      else gesture.hasMoved = true; // of several fingers none clicks
    });
    plane.addEventListener("pointermove", (event) => {
      const position = inPlane(event);
      if (!pointers.has(event.pointerId)) {
        if (map.takes(event)) map.hover(position);
        else map.leave();
        return;
      }
      const old = [...pointers.values()];
      if (pointers.size === 1 && !gesture.hasMoved) {
        if (spreadOf([gesture.start, position]) < SLOP) return;
        gesture.hasMoved = true;
        map.leave();
      }
      pointers.set(event.pointerId, position);
      const wasDrag = gesture.isDrag;
      gesture.isDrag = map.drag(gesture.start, position);
      if (wasDrag && !gesture.isDrag) map.drop(gesture.start); // broken off by a key
      if (gesture.isDrag) return;
      const now = [...pointers.values()];
      const [from, to] = [centreOf(old), centreOf(now)];
      map.pan(to[0] - from[0], to[1] - from[1]);
      if (now.length === 2) map.zoomAt(spreadOf(now) / Math.max(1, spreadOf(old)), to);
    });
    plane.addEventListener("pointerup", (event) => {
      if (!pointers.delete(event.pointerId) || pointers.size) return;
      if (gesture.isDrag) map.drop(gesture.start, inPlane(event));
      else if (!gesture.hasMoved) map.click(gesture.start, event.pointerType !== "mouse");
    });
    plane.addEventListener("pointercancel", (event) => {
      if (!pointers.delete(event.pointerId)) return; // the page scrolls
      if (gesture.isDrag) map.drop(gesture.start);
    });
    plane.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") map.leave();
    });
    // Two fingers zoom the map, also where one finger scrolls the page.
    plane.addEventListener("touchstart", (event) => {
      if (event.cancelable && event.touches.length > 1) event.preventDefault();
    }, { passive: false });
    plane.addEventListener("wheel", (event) => {
      const isPinch = event.ctrlKey || event.metaKey;
      if (!isPinch && !map.wheelZooms()) {
        map.explainWheel();
        return;
      }
      if (event.cancelable) event.preventDefault(); // it is not while the page scrolls
      const factor = Math.exp(-event.deltaY * (isPinch ? 0.01 : 0.0025));
      map.zoomAt(clamp(factor, 1 / ZOOM_STEP, ZOOM_STEP), inPlane(event));
    }, { passive: false });
  };

  Object.assign(vsdemo, { clamp, followPointers, ZOOM_STEP });
})();
