// Sets the colours before anything is drawn; hence no module. The choice of colours and whether the details are open are all that
// the page ever stores.
(() => {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be forbidden; the page then follows the system.
  }
})();
