/** Looks for a text within others in time that hangs on their lengths alone: `includes` may compare each character of one with each of the other where both repeat themselves. */

/** Up to this length comparing everything with everything is as quick. */
const shortMax = 16

/** Tells of each text whether it holds `wanted` (Knuth, Morris and Pratt). */
export function finderOf(wanted: string): (text: string) => boolean {
  if (wanted.length <= shortMax) return (text) => text.includes(wanted)
  const back = fallbacksOf(wanted)
  return (text) => {
    let matched = 0
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = back[matched - 1]!
      if (wanted.charCodeAt(matched) === unit) matched += 1
      if (matched === wanted.length) return true
    }
    return false
  }
}

/** Of each beginning of a text the length of the longest shorter one that it ends with. */
function fallbacksOf(text: string): Uint32Array {
  const back = new Uint32Array(text.length)
  for (let i = 1, matched = 0; i < text.length; i++) {
    while (matched > 0 && text.charCodeAt(matched) !== text.charCodeAt(i)) matched = back[matched - 1]!
    if (text.charCodeAt(matched) === text.charCodeAt(i)) matched += 1
    back[i] = matched
  }
  return back
}
