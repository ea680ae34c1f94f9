import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { runCommand } from '../cluster/run-command.ts'

const LOADER = /^ld-linux.*\.so\.\d+$/
/** Signs the packages of every suite. */
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/**
 * The newest HAProxy of a suite that this machine does not run: its package and those it needs, unpacked side by side, with
 * their own C library as its loader. Nothing is installed, and the lists of the machine's own apt stay as they are.
 */
export function buildFromDebian(suites: readonly string[]): (target: string, home: string) => Promise<void> {
  return async (target, home) => {
    const work = await mkdtemp(join(tmpdir(), 'sluice-apt-'))
    try {
      const packages = await download(work, suites)
      const root = join(work, 'root')
      for (const file of packages) await runCommand('dpkg-deb', ['--extract', file, root])
      await mkdir(join(target, 'bin'))
      const program = join(target, 'bin', 'haproxy')
      await cp(join(root, 'usr', 'sbin', 'haproxy'), program)
      const loader = (await readdir(join(root, 'usr', 'lib'), { recursive: true })).find((path) => LOADER.test(basename(path)))
      if (loader === undefined) throw new Error(`the packages of ${suites.join(' and ')} have no loader`)
      await cp(join(root, 'usr', 'lib', dirname(loader)), join(target, 'lib'), { recursive: true, verbatimSymlinks: true })
      // The loader's path must be absolute, and is the one that the folder has in the end.
      const interpreter = join(home, 'lib', basename(loader))
      await runCommand('patchelf', ['--set-interpreter', interpreter, '--force-rpath', '--set-rpath', '$ORIGIN/../lib', program])
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  }
}

/** With lists and a cache of its own, and no package installed, so that every one that is needed is fetched. */
async function download(work: string, suites: readonly string[]): Promise<string[]> {
  const [lists, cache, sources, status] = ['lists', 'cache', 'debian.sources', 'status'].map((name) => join(work, name))
  await mkdir(join(lists!, 'partial'), { recursive: true })
  await mkdir(join(cache!, 'archives', 'partial'), { recursive: true })
  await writeFile(status!, '')
  const stanza = [
    'Types: deb',
    `URIs: ${await mirror()}`,
    `Suites: ${suites.join(' ')}`,
    'Components: main',
    `Signed-By: ${KEYRING}`,
  ]
  await writeFile(sources!, `${stanza.join('\n')}\n`)
  const settings = {
    'Dir::State::Lists': lists,
    'Dir::State::Status': status,
    'Dir::Cache': cache,
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::Etc::Preferences': '/dev/null',
    'Dir::Etc::PreferencesParts': '/dev/null',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '20',
    // The folder is this user's alone.
    'APT::Sandbox::User': userInfo().username,
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const wanted = ['--download-only', '--yes', '--no-install-recommends', '--target-release', suites.at(-1)!, 'haproxy']
  await runCommand('apt-get', [...options, '--quiet', '--error-on=any', 'update'], { timeoutMs: 120_000 })
  await runCommand('apt-get', [...options, '--quiet', 'install', ...wanted], { timeoutMs: 120_000 })
  const archives = join(cache!, 'archives')
  return (await readdir(archives)).filter((name) => name.endsWith('.deb')).map((name) => join(archives, name))
}

/** The one that this machine's packages come from. */
async function mirror(): Promise<string> {
  const { stdout } = await runCommand('apt-get', ['indextargets', '--format', '$(ORIGIN) $(SUITE) $(REPO_URI)'])
  const found = stdout.split('\n').map((line) => line.split(' '))
  const uri = found.find(([origin, suite = '']) => origin === 'Debian' && !suite.endsWith('-security'))?.[2]
  if (uri === undefined) throw new Error('apt has no lists of Debian here (apt-get update)')
  return uri
}
