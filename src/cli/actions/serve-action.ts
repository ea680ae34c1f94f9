import { formatAddress, parseAddress } from '../../../adapters/address.ts'
import type { ProductServer } from '../../../adapters/contract.ts'
import { exitCodeOfSignal, type ExitCode, type InterruptSignal } from '../../library/exit-codes.ts'
import type { ServeFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { inert } from '../output/inert.ts'
import { SIGNALS } from '../run/interrupts.ts'
import { listenForProduct } from '../run/listen-for-product.ts'
import { configPath, readConfig } from '../world.ts'

export async function serveAction(name: string, { config, listen }: ServeFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const at = addressOf(listen)
  const server = await serverOf(name, configPath(config, terminal.env))
  const say = (line: string): void => terminal.err.write(`${inert(line)}\n`)
  const ended = signalFrom(terminal)
  const listener = await listenForProduct(server, at, say).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError([
      `--listen ${listen} cannot be used (${error.code}): name an address of this host, and a port that is free`,
    ])
  })
  say(`${name} is served at http://${formatAddress({ address: at.address, port: listener.port })}`)
  const signal = await ended
  await listener.close()
  return exitCodeOfSignal(signal)
}

function addressOf(listen: string): { address: string; port: number } {
  const free = /^(.+):0$/.exec(listen)?.[1]
  const at = free === undefined ? parseAddress(listen) : { address: free.replaceAll(/[[\]]/g, ''), port: 0 }
  if (at === undefined) throw new UsageError([`--listen ${listen} is no address: write it as ADDRESS:PORT`])
  return at
}

async function serverOf(name: string, file: string): Promise<ProductServer> {
  const { loadBalancers, folder } = await readConfig(file)
  const found = loadBalancers.find((one) => one.name === name)
  if (found === undefined) {
    const names = loadBalancers.map((one) => one.name).join(', ')
    throw new UsageError([`${file} has no load balancer ${JSON.stringify(name)}: it has ${names}`])
  }
  const { definition, options, adapter } = found
  if (definition.serve === undefined)
    throw new UsageError([`${name} is of the adapter ${adapter}, whose product fetches nothing: envoy and traefik can be served`])
  try {
    return definition.serve(options, { name, folder })
  } catch (error) {
    throw new UsageError([`${name} cannot be served: ${(error as Error).message}`])
  }
}

/** Resolves with the first signal. Later signals end the process, as is usual. */
function signalFrom({ events }: CommandContext['terminal']): Promise<InterruptSignal> {
  return new Promise((resolve) => {
    const listeners = SIGNALS.map((signal) => [signal, () => hear(signal)] as const)
    function hear(signal: InterruptSignal): void {
      for (const [heard, listener] of listeners) events.off(heard, listener)
      resolve(signal)
    }
    for (const [signal, listener] of listeners) events.on(signal, listener)
  })
}
