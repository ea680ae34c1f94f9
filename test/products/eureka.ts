/** The Eureka server of Spring Cloud Netflix, built by Maven into the cache of builds. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedBuild } from '../cluster/build-cache.ts'
import { runCommand } from '../cluster/run-command.ts'
import { lastLine, type Program } from './program.ts'

const SOURCE = join(import.meta.dirname, 'eureka')
const FILES = ['pom.xml', 'src/main/java/dev/sluice/eureka/Eureka.java']

/** Returns its jar for `java -jar`, or the reason why there is none. */
export async function findEureka(): Promise<Program> {
  try {
    await runCommand('java', ['-version'])
    const folder = await cachedBuild({
      name: 'eureka',
      sources: FILES.map((file) => join(SOURCE, file)),
      salt: 'mvn package',
      build,
    })
    return { title: 'eureka (Spring Cloud 2025.0.0)', program: join(folder, 'eureka.jar'), version: '2025.0.0' }
  } catch (error) {
    return { title: `eureka of Maven Central: ${lastLine(error)}`, program: undefined, version: undefined }
  }
}

async function build(target: string): Promise<void> {
  const project = join(target, 'project')
  await cp(SOURCE, project, { recursive: true })
  await runCommand('mvn', ['--batch-mode', '--quiet', '--file', join(project, 'pom.xml'), 'package'], { timeoutMs: 600_000 })
  await cp(join(project, 'target/eureka.jar'), join(target, 'eureka.jar'))
}
