import { distance } from 'fastest-levenshtein'

/** The candidate that was probably meant: at most a third of it mistyped, upper and lower case alike. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: { candidate: string; edits: number } | undefined
  for (const candidate of candidates) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase())
    const tolerated = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3))
    if (edits <= tolerated && (best === undefined || edits < best.edits)) best = { candidate, edits }
  }
  return best?.candidate
}
