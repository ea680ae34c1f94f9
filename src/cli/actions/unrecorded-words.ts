/** What to do about each kind of what no open run tells of; a run brings pods home, and mends no record. */
export function unrecordedWords(unrecorded: readonly string[]): string {
  const pods = unrecorded.some((one) => one.startsWith('pod/')) ? ['sluice upgrade brings such pods to their end'] : []
  const isBroken = unrecorded.some((one) => !one.startsWith('pod/'))
  const broken = isBroken ? ['sluice status says what to do about a record that cannot be read'] : []
  return `${unrecorded.join('; ')}: ${[...pods, ...broken].join(', and ')}`
}
