import { UsageError } from './usage-error.ts'

/** Returns both results, or throws one UsageError with the mistakes in either. */
export function parseTogether<One, Other>(parseOne: () => One, parseOther: () => Other): [One, Other] {
  const one = parsed(parseOne)
  const other = parsed(parseOther)
  if ('problems' in one || 'problems' in other)
    throw new UsageError([one, other].flatMap((each) => ('problems' in each ? each.problems : [])))
  return [one.value, other.value]
}

function parsed<Value>(parse: () => Value): { value: Value } | { problems: readonly string[] } {
  try {
    return { value: parse() }
  } catch (error) {
    if (error instanceof UsageError) return { problems: error.problems }
    throw error
  }
}
