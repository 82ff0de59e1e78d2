/** What the pages of the reference do beyond being read: copying, search, the language that was chosen, and requests with a test key. Every page holds this text. */
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
  for (const pre of document.querySelectorAll('pre')) {
    const button = element('button', { type: 'button', textContent: 'Copy', ariaLabel: 'Copy this text' })
    button.addEventListener('click', async () => {
      const said = await copy(pre).then(
        () => 'Copied',
        () => 'Not copied',
      )
      button.textContent = said
      button.addEventListener('blur', () => (button.textContent = 'Copy'), { once: true })
    })
    const frame = element('div', { className: 'copied' })
    pre.replaceWith(frame)
    frame.append(pre, button)
  }

  const chosen = document.querySelector(`.tabs input[value="${CSS.escape(remember('localStorage', 'posthorn.language'))}"]`)
  if (chosen) chosen.checked = true
  for (const input of document.querySelectorAll('.tabs input'))
    input.addEventListener('change', () => remember('localStorage', 'posthorn.language', input.value))

  // search

  let index
  const entries = () => (index ??= fetch('/docs/search.json').then((answer) => answer.json()))

  /** Every word must occur; words that begin a title count most. */
  const ranked = (all, text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    const weigh = ([title, href, kind, more]) => {
      const [head, tail] = [title.toLowerCase(), `${kind} ${more} ${href}`.toLowerCase()]
      let sum = head === text.toLowerCase() ? 8 : 0
      for (const word of words) {
        if (head.startsWith(word)) sum += 4
        else if (head.includes(word)) sum += 3
        else if (tail.includes(word)) sum += 1
        else return 0
      }
      return sum
    }
    return all
      .map((entry) => [weigh(entry), entry])
      .filter(([weight]) => weight > 0)
      .sort(([a], [b]) => b - a)
      .slice(0, 12)
      .map(([, entry]) => entry)
  }

  const found = element('ul', { hidden: true })
  const query = element('input', { type: 'search', placeholder: 'Search  /', ariaLabel: 'Search the reference', autocomplete: 'off' })
  const search = document.getElementById('search')
  search.role = 'search'
  search.append(query, found)

  const show = async () => {
    const text = query.value.trim()
    const hits = text === '' ? [] : ranked(await entries(), text)
    if (query.value.trim() !== text) return
    found.replaceChildren(...hits.map(([title, href, kind]) => element('li', {}, element('a', { href }, title, element('small', {}, kind)))))
    if (text !== '' && hits.length === 0) found.append(element('li', {}, element('p', { role: 'status' }, 'Nothing was found.')))
    found.hidden = text === ''
  }
  query.addEventListener('focus', () => void entries().catch(() => (index = undefined)))
  query.addEventListener('input', () => void show().catch(() => (index = undefined)))
  search.addEventListener('click', (event) => {
    if (event.target.closest('a')) found.hidden = true
  })
  search.addEventListener('keydown', (event) => {
    const links = [...found.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement)
    if (event.key === 'ArrowDown') (links[at + 1] ?? links.at(-1))?.focus()
    else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1] : query).focus()
    else if (event.key === 'Enter' && at === -1) links[0]?.click()
    else if (event.key === 'Escape') {
      found.hidden = true
      query.blur()
    } else return
    event.preventDefault()
    if (event.key === 'Enter' && at !== -1) links[at].click()
  })
  addEventListener('click', (event) => {
    if (!search.contains(event.target)) found.hidden = true
  })
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.matches('input, textarea')) return
    event.preventDefault()
    query.focus()
  })

  // requests from the page: to this service alone, and with no key that delivers or bills

  const form = document.getElementById('try')
  if (form) {
    const [key, body, answer, alert] = ['#try-key', '#try-body', '#try-answer', '[role=alert]'].map((selector) => form.querySelector(selector))
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
      if (text.startsWith('svc_live_')) return 'This is a live key: it delivers and bills, and is not taken here. Use a test key.'
      return text.startsWith(prefix) ? '' : `The key must begin with ${prefix}.`
    }

    const addressOf = () => {
      const inPath = (name) => encodeURIComponent(form.querySelector(`[data-path="${name}"]`).value)
      const query = new URLSearchParams()
      for (const input of form.querySelectorAll('[data-query]')) if (input.value !== '') query.append(input.dataset.query, input.value)
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
      const address = new URL(addressOf(), location.origin)
      if (!address.pathname.startsWith('/v1/') && refuse('An id cannot be dots alone.')) return
      remember('sessionStorage', kept, secret)
      const headers = { authorization: `Bearer ${secret}`, ...(body ? { 'content-type': type } : {}) }
      const [line, text] = [answer.querySelector('h4'), answer.querySelector('code')]
      try {
        const got = await fetch(address, { method, headers, credentials: 'omit', ...(body ? { body: body.value } : {}) })
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
