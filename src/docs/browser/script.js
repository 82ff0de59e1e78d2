/** The script of every page of the reference: copying, search, the chosen language, and requests with a test key. */
{
  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties)
    made.append(...children)
    return made
  }

  /** Storage may be switched off. */
  const remember = (storage, name, value) => {
    try {
      if (value === undefined) return globalThis[storage].getItem(name) ?? ''
      if (value === '') globalThis[storage].removeItem(name)
      else globalThis[storage].setItem(name, value)
    } catch {
      // then it is asked for again
    }
    return value ?? ''
  }

  /** Anchors of operations and content types, from when all of them stood on one page, lead to their pages. */
  const leadOn = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1))
    if (target && target.matches('[data-moved]')) location.replace(target.querySelector('a').href)
  }
  leadOn()
  addEventListener('hashchange', leadOn)

  /** Without https there is no clipboard, but a selection can be copied. */
  const copy = async (pre) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(pre.textContent)
    getSelection().selectAllChildren(pre)
    document.execCommand('copy')
    getSelection().removeAllRanges()
  }
  const copied = element('div', { className: 'unseen', role: 'status' })
  document.body.append(copied)
  for (const pre of document.querySelectorAll('pre')) {
    const button = element('button', { type: 'button', textContent: 'Copy' })
    button.addEventListener('click', async () => {
      const said = await copy(pre).then(
        () => 'Copied',
        () => 'Not copied',
      )
      button.textContent = copied.textContent = said
    })
    button.addEventListener('blur', () => {
      button.textContent = 'Copy'
      copied.textContent = ''
    })
    const frame = element('div', { className: 'copied' })
    pre.replaceWith(frame)
    frame.append(pre, button)
  }

  /** Makes scrolling elements reachable by keyboard. */
  const scrolling = new ResizeObserver((all) => {
    for (const { target } of all) {
      const more = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight
      if (more)
        Object.assign(target, {
          tabIndex: 0,
          role: 'group',
          ariaLabel: target.matches('pre') ? 'Text that scrolls' : 'Table that scrolls',
        })
      else for (const name of ['tabindex', 'role', 'aria-label']) target.removeAttribute(name)
    }
  })
  for (const part of document.querySelectorAll('pre, .scroll')) scrolling.observe(part)

  const chosen = document.querySelector(
    `.tabs input[value="${CSS.escape(remember('localStorage', 'posthorn.language'))}"]`,
  )
  if (chosen) chosen.checked = true
  for (const input of document.querySelectorAll('.tabs input'))
    input.addEventListener('change', () => remember('localStorage', 'posthorn.language', input.value))

  // search

  let index
  /** Titles and names in small letters, each word behind a blank. */
  const plain = (text) => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `
  const load = async () => {
    const answer = await fetch('/docs/search.json')
    const { ignored, entries } = await answer.json()
    return {
      ignored: new Set(ignored),
      entries: entries.map((entry) => [
        ...entry,
        plain(entry[0]),
        plain(`${entry[3]} ${entry[2]} ${entry[1]}`),
        plain(entry[4]),
      ]),
    }
  }
  const entries = () =>
    (index ??= load().catch((error) => {
      index = undefined
      throw error
    }))

  /** The weight of a word in an entry: highest at the start of a word of the title, lowest inside the text. */
  const weigh = (word, [, , , , , title, names, text]) => {
    if (title.startsWith(` ${word}`)) return 9
    if (title.includes(` ${word}`)) return 7
    if (names.includes(` ${word} `)) return 6
    if (names.includes(` ${word}`)) return 5
    if (word.length > 2 && (title.includes(word) || names.includes(word))) return 3
    if (text.includes(` ${word} `)) return 2
    return text.includes(` ${word}`) ? 1 : 0
  }

  /** Entries that have every word; where none has, those with the most. */
  const ranked = ({ ignored, entries }, text) => {
    const typed = plain(text).trim()
    const given = typed.split(' ').filter(Boolean)
    const telling = given.filter((word) => !ignored.has(word))
    const words = (telling.length > 0 ? telling : given)
      .map((word) => (word.length > 4 ? word.replace(/s$/, '') : word))
      .slice(0, 12)
    if (words.length === 0) return []
    const scored = entries.map((entry) => {
      const weights = words.map((word) => weigh(word, entry))
      const [title, names] = [entry[5], entry[6]]
      const whole = title === ` ${typed} ` ? 20 : names.includes(` ${typed} `) ? 8 : title.includes(` ${typed}`) ? 4 : 0
      return {
        entry,
        had: weights.filter(Boolean).length,
        weight: weights.reduce((sum, weight) => sum + weight, whole),
      }
    })
    const most = Math.max(...scored.map(({ had }) => had))
    return scored
      .filter(({ had }) => had > 0 && had === most)
      .sort((one, other) => other.weight - one.weight)
      .slice(0, 12)
      .map(({ entry }) => entry)
  }

  const found = element('ul', { hidden: true })
  const query = element('input', {
    type: 'search',
    placeholder: 'Search  /',
    ariaLabel: 'Search the reference',
    autocomplete: 'off',
  })
  const search = document.getElementById('search')
  search.role = 'search'
  search.append(query, found)

  const tell = (text) => found.replaceChildren(element('li', {}, element('p', { role: 'status' }, text)))
  const show = async () => {
    const text = query.value.trim()
    found.hidden = text === ''
    if (text === '') return found.replaceChildren()
    try {
      const hits = ranked(await entries(), text)
      if (query.value.trim() !== text) return
      if (hits.length === 0) tell('Nothing was found.')
      else
        found.replaceChildren(
          ...hits.map(([title, href, kind]) =>
            element('li', {}, element('a', { href }, title, element('small', {}, kind))),
          ),
        )
    } catch {
      tell('The search could not be loaded.')
    }
  }
  query.addEventListener('focus', () => void entries().catch(() => undefined))
  query.addEventListener('input', show)
  search.addEventListener('click', (event) => {
    if (event.target.closest('a')) found.hidden = true
  })
  search.addEventListener('keydown', async (event) => {
    if (event.isComposing) return
    const links = [...found.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement)
    if (event.key === 'ArrowDown') (links[at + 1] ?? links.at(-1))?.focus()
    else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1] : query).focus()
    else if (event.key === 'Escape') {
      found.hidden = true
      query.blur()
    } else if (event.key !== 'Enter' || at !== -1) return
    event.preventDefault()
    if (event.key !== 'Enter') return
    // what is shown may be of fewer letters
    await show()
    found.querySelector('a')?.click()
  })
  addEventListener('click', (event) => {
    if (!search.contains(event.target)) found.hidden = true
  })
  addEventListener('keydown', (event) => {
    if (
      event.key !== '/' ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.target.matches('input:not([type=radio]), textarea')
    )
      return
    event.preventDefault()
    query.focus()
  })

  // requests from the page: to this service alone, and with no key that delivers or bills

  const form = document.getElementById('try')
  if (form) {
    const [key, body, answer, alert] = ['#try-key', '#try-body', '#try-answer', '[role=alert]'].map((selector) =>
      form.querySelector(selector),
    )
    const { method, path, type, prefix } = form.dataset
    const kept = `posthorn.key.${prefix}`
    key.value = remember('sessionStorage', kept)
    form.parentElement.hidden = false
    form.parentElement.open = key.value !== ''

    const refuse = (text) => {
      alert.textContent = text
      alert.hidden = text === ''
      return text !== ''
    }
    const problemOf = (text) => {
      if (text === '') return 'Give a key.'
      if (text.startsWith('svc_live_'))
        return 'This is a live key: it delivers and bills, and is not taken here. Use a test key.'
      return new RegExp(`^${prefix}\\w+$`).test(text)
        ? ''
        : `The key must begin with ${prefix}, and have letters and digits alone behind it.`
    }

    const addressOf = () => {
      const inPath = (name) => encodeURIComponent(form.querySelector(`[data-path="${name}"]`).value.trim())
      const query = new URLSearchParams()
      for (const input of form.querySelectorAll('[data-query]'))
        if (input.value !== '') query.append(input.dataset.query, input.value)
      return path.replace(/\{(\w+)\}/g, (_all, name) => inPath(name)) + (query.size === 0 ? '' : `?${query}`)
    }
    const pretty = (text) => {
      try {
        return JSON.stringify(JSON.parse(text), null, 2)
      } catch {
        return text
      }
    }

    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      const secret = key.value.trim()
      if (refuse(problemOf(secret))) return
      const ids = [...form.querySelectorAll('[data-path]')]
      // a browser would take the steps that `.` and `..` mean, encoded too, and ask something else
      if (
        ids.some(({ value }) => /^(\.|%2e){0,2}$/i.test(value.trim())) &&
        refuse('An id cannot be empty, or dots alone.')
      )
        return
      const address = new URL(addressOf(), location.origin)
      remember('sessionStorage', kept, secret)
      const headers = { authorization: `Bearer ${secret}`, ...(body ? { 'content-type': type } : {}) }
      const [line, text] = [answer.querySelector('h4'), answer.querySelector('code')]
      try {
        const got = await fetch(address, {
          method,
          headers,
          credentials: 'omit',
          ...(body ? { body: body.value } : {}),
        })
        line.textContent = `${got.status} ${got.statusText} · ${got.headers.get('x-request-id') ?? ''}`
        text.textContent = pretty(await got.text()) || 'No body.'
        answer.hidden = false
      } catch {
        refuse('The service could not be reached.')
      }
    })
    document.getElementById('try-forget').addEventListener('click', () => {
      key.value = remember('sessionStorage', kept, '')
      refuse('')
      key.focus()
    })
  }
}
