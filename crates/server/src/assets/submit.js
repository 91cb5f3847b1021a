// Form of a submission: the plan, the problems and the text are updated while the user types.

class Submit {
  constructor(form) {
    this.form = form;
    this.asked = 0;
    form.addEventListener("input", (e) => this.changed(e.target));
    // If the form came back with problems, focus them, so that they are read first.
    document.getElementById("problems")?.focus();
  }

  changed(field) {
    const { edited, base, toml } = this.form.elements;
    // Fields change the text as it was last edited.
    if (field !== toml && edited.value === "toml") base.value = toml.value;
    edited.value = field === toml ? "toml" : "fields";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 300);
  }

  async ask() {
    const asked = ++this.asked;
    const body = new URLSearchParams(new FormData(this.form));
    try {
      const answer = await fetch(this.form.dataset.plan, { method: "POST", body, redirect: "error", signal: AbortSignal.timeout(20000) });
      const reply = await answer.json();
      // Ignore the answers to earlier requests.
      if (asked !== this.asked) return;
      connection(null);
      if (answer.ok) this.show(reply);
      else document.getElementById("plan").textContent = reply.error.message;
    } catch {
      if (asked === this.asked) connection("The server does not answer");
    }
  }

  show({ plan, problems, toml, values }) {
    document.getElementById("plan").innerHTML = plan;
    if (!problems.length) document.getElementById("problems")?.remove();
    const byText = this.form.elements.edited.value === "toml";
    if (!byText) this.form.elements.toml.value = toml;
    else if (!problems.some((p) => p.field === "toml")) {
      for (const [name, value] of Object.entries(values)) {
        const input = this.form.elements[name];
        if (input && value !== null) input.value = value;
      }
    }
    for (const place of this.form.querySelectorAll("[data-problem]")) {
      const own = problems.filter((p) => p.field === place.dataset.problem);
      place.replaceChildren(...own.map((p) => {
        const text = document.createElement("pre");
        text.textContent = p.message;
        return text;
      }));
      const input = this.form.elements[place.dataset.problem];
      if (own.length) input?.setAttribute("aria-invalid", "true");
      else input?.removeAttribute("aria-invalid");
    }
  }
}
