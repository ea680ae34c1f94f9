/** So many at once; the others wait for their turn, the first of them first. */
export interface Bound {
  /** Resolves with what gives the place back, once there is one; a second call of that does nothing. */
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
