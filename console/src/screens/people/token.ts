/** The token of a link stands behind its `#`, which browsers send to nobody. */

/** Takes it out of the address, so that no history holds it; it is kept for a reload of this tab. */
export function takenToken(): string {
  const key = `token ${location.pathname}`
  const given = location.hash.slice(1)
  if (given === '') return sessionStorage.getItem(key) ?? ''
  sessionStorage.setItem(key, given)
  history.replaceState(history.state, '', location.pathname + location.search)
  return given
}

/** The link was used. */
export const forgetToken = (): void => sessionStorage.removeItem(`token ${location.pathname}`)
