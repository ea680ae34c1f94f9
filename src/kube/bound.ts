/** A bound on the work that is done at once. Callers beyond it wait in the order of their calls. */
export interface Bound {
  /** Resolves once a place is free, with a function that gives the place back. A second call of the function does nothing. */
  enter(): Promise<() => void>
}

export function createBound(places: number): Bound {
  const waiting: (() => void)[] = []
  let free = places

  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }

  return {
    async enter() {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      let isIn = true
      return () => {
        if (isIn) leave()
        isIn = false
      }
    },
  }
}
