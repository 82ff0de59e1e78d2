/** Things that are made when they are first asked for, once where many ask at the same time. */

/** The maker's value, kept; what failed is made anew at the next call. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  const kept = onceEach<T>()
  return () => kept('', make)
}

/** As `once`, for any number of values by their names. */
export function onceEach<T>(): (name: string, make: () => Promise<T>) => Promise<T> {
  const made = new Map<string, Promise<T>>()
  return (name, make) => {
    const known = made.get(name)
    if (known !== undefined) return known
    const making = make()
    made.set(name, making)
    making.catch(() => made.delete(name))
    return making
  }
}
