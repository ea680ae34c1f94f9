/** The words that `make` creates of `facts`. If it fails, the facts are shown as JSON after `head`. */
export function orAsItIs(facts: object, make: () => string | undefined, head = ''): string {
  try {
    const made = make()
    if (made !== undefined) return made
  } catch {
    // Facts of another version of sluice may lack the fields that the words need.
  }
  return `${head}${JSON.stringify(facts)}`
}
