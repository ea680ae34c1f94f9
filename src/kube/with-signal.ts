import type { CallOptions, KubeClient } from './client.ts'

/** A client whose calls end by a signal, which `signal` returns at the begin of each call. Watches have signals of their own. */
export function withSignal(client: KubeClient, signal: () => AbortSignal | undefined): KubeClient {
  function ended<Options extends CallOptions>(options: Options = {} as Options): Options {
    const own = signal()
    if (own === undefined) return options
    return { ...options, signal: options.signal === undefined ? own : AbortSignal.any([own, options.signal]) }
  }

  return {
    get: (path, options) => client.get(path, ended(options)),
    create: (path, body, options) => client.create(path, body, ended(options)),
    replace: (path, body, options) => client.replace(path, body, ended(options)),
    patch: (path, operations, options) => client.patch(path, operations, ended(options)),
    delete: (path, options) => client.delete(path, ended(options)),
    watch: (path, options) => client.watch(path, options),
  }
}
