/** Reports a bug in the output once, and keeps it from the engine, which calls `show` during a run. */
export function untilBroken<Shown>(show: (shown: Shown) => void, onError: (error: unknown) => void): (shown: Shown) => void {
  let isBroken = false
  return (shown) => {
    if (isBroken) return
    try {
      show(shown)
    } catch (error) {
      isBroken = true
      onError(error)
    }
  }
}
