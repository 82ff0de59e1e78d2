/** The merge tags that an automation's message may have beside those of contacts: `{{data.<path>}}` and `{{customer.<field>}}` (behaviour: integrations 5.2). */
import { contactTagNames } from '../../messages/service.ts'
import { customerTexts, readPath } from './event-paths.ts'

/** Whether a tag names something of the event, whatever it turns out to hold. */
export const isEventTag = (name: string): boolean =>
  customerTexts.some((key) => name === `customer.${key}`) ||
  readPath(name, 'data') !== null ||
  readPath(name, 'customer.attributes') !== null

/** Ends the sentence about a tag that names nothing. */
export const toldOfEventTags = `names nothing that is known of the event or of the contact. Use {{data.<path>}}, {{customer.<field>}}, ${contactTagNames}.`
