import type { PodView } from './glossary.ts'

/** Compares pods by the part of the name before the final number, and then by that number. */
export function byOrdinal(isHighestFirst: (pod: PodView) => boolean): (a: PodView, b: PodView) => number {
  return (a, b) => {
    const [stemA, ordinalA] = ordinalOf(a.name)
    const [stemB, ordinalB] = ordinalOf(b.name)
    if (stemA !== stemB) return stemA < stemB ? -1 : 1
    if (ordinalA !== ordinalB) return isHighestFirst(a) ? ordinalB - ordinalA : ordinalA - ordinalB
    return a.name < b.name ? -1 : 1
  }
}

function ordinalOf(name: string): [stem: string, ordinal: number] {
  const match = /^(.*)-(\d+)$/.exec(name)
  return match ? [match[1]!, Number(match[2])] : [name, -1]
}
