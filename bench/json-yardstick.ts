const POD = JSON.stringify(
  Array.from({ length: 50 }, (_, id) => ({ id, name: `web-${id}`, labels: { app: 'web' }, ports: [80, 443] })),
)
const PARSES = 2_000

/** Returns the bytes of JSON that this machine parses in a millisecond of processor time. Slow and busy machines parse less. */
export function parsedInMs(): number {
  const began = process.cpuUsage()
  for (let time = 0; time < PARSES; time++) JSON.parse(POD)
  const { user, system } = process.cpuUsage(began)
  return (POD.length * PARSES) / ((user + system) / 1_000)
}
