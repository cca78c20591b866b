// Texts of scripts in the language of the browser, and numbers as it writes them.
{
  const code = navigator.language.split("-")[0].toLowerCase();
  const texts = window.vsdemoTranslations[code];

  Object.assign(vsdemo, {
    // The language of the page: English unless there is a translation.
    language: texts ? code : "en",

    // A name in braces stands for one of the values.
    translate: (text, values = {}) =>
      (texts?.[text] || text).replace(/\{(\w+)\}/g, (_, name) => values[name]),

    number: (value, digits = 0) => value.toLocaleString(vsdemo.language, {
      minimumFractionDigits: digits, maximumFractionDigits: digits,
    }),
  });
}
