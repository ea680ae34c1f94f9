/** `make` makes words of `facts`; where it cannot, the facts are shown as they are, after `head`. */
export function orAsItIs(facts: object, make: () => string | undefined, head = ''): string {
  try {
    const made = make()
    if (made !== undefined) return made
  } catch {
    // It has other fields than the words are made of.
  }
  return `${head}${JSON.stringify(facts)}`
}
