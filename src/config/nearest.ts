import { distance } from 'fastest-levenshtein'

/** The candidate that resembles the word most: two letters exchanged, or up to a third of the word mistyped. Case does not count. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: { candidate: string; edits: number } | undefined
  for (const candidate of candidates) {
    const longer = Math.max(word.length, candidate.length)
    const tolerated = longer < 4 ? 1 : Math.max(2, Math.floor(longer / 3))
    // The difference in length is a lower bound of the edits. The check saves time, because words of a file may be long.
    if (Math.abs(word.length - candidate.length) > tolerated) continue
    const edits = distance(word.toLowerCase(), candidate.toLowerCase())
    if (edits <= tolerated && (best === undefined || edits < best.edits)) best = { candidate, edits }
  }
  return best?.candidate
}
