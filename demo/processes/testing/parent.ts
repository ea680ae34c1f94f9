/** A demo with processes only. The demo prints their ids, and waits to be killed. */
import { createChildren } from '../children.ts'

const children = createChildren()
const pod = children.run('pod', { PORT: '0' })
const traffic = children.run('traffic', {
  OPTIONS: JSON.stringify({
    url: 'http://127.0.0.1:9',
    ratePerSecond: 1,
    heldShare: 0,
    holdMs: 0,
    freshShare: 1,
    timeoutMs: 1_000,
  }),
})
const balancer = children.run('load-balancer', { OPTIONS: JSON.stringify({ servers: [] }) })
const leashed = children.runOnLeash([process.execPath, '-e', 'console.log(process.pid); setInterval(() => {}, 1_000)'])
leashed.process.stdout!.once('data', (pid: Buffer) => {
  const pids = [pod, traffic, balancer, leashed].map(({ process: { pid: own } }) => own)
  process.stdout.write(`${JSON.stringify([...pids, Number(pid)])}\n`)
})
