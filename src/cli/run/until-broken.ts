/** A mistake in the output is told once and must not reach the engine, which calls from the middle of a run. */
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
