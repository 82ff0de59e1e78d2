/** A map from hashed texts to numbers: about 16 bytes per entry, for millions of entries. */

const loadMax = 0.6

export class KeyTable {
  #hashes = new Float64Array(1024)
  #values = new Int32Array(1024)
  #filled = 0

  get(text: string): number | undefined {
    const slot = this.#slotOf(hashOf(text))
    return this.#hashes[slot] === 0 ? undefined : this.#values[slot]
  }

  set(text: string, value: number): void {
    if (this.#filled >= this.#hashes.length * loadMax) this.#grow()
    this.#put(hashOf(text), value)
  }

  #put(hash: number, value: number): void {
    const slot = this.#slotOf(hash)
    if (this.#hashes[slot] === 0) this.#filled += 1
    this.#hashes[slot] = hash
    this.#values[slot] = value
  }

  #slotOf(hash: number): number {
    const mask = this.#hashes.length - 1
    let slot = hash & mask
    while (this.#hashes[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const [hashes, values] = [this.#hashes, this.#values]
    this.#hashes = new Float64Array(hashes.length * 2)
    this.#values = new Int32Array(hashes.length * 2)
    this.#filled = 0
    for (const [at, hash] of hashes.entries()) if (hash !== 0) this.#put(hash, values[at]!)
  }
}

/** 53 bits, never 0: below 1 % risk of a collision among ten million texts. */
function hashOf(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return 4294967296 * (2097151 & b) + (a >>> 0) || 1
}
