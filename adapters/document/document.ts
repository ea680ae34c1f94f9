/** A document that is read and written as a whole, such as a configuration file. */
import type { ScriptCall } from '../host/host.ts'

export interface DocumentText {
  text: string
  /** Of this write of the text: the same text, written again later, has another one. */
  version: string
}

export interface Document {
  /** The same for whoever writes the same document: what a lock or a scope goes by. */
  identity: string
  read(call: ScriptCall): Promise<DocumentText>
  /**
   * Replaces the text that has this version by another one, and gives the version of that. Rejects with `conflict` where the document has
   * another version by now: it stays as it is. Only `ambiguous` leaves open whether it was written.
   */
  write(text: string, version: string, call: ScriptCall): Promise<string>
}
