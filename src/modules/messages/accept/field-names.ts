/** The fields that a message may have at its top, and what other services call them: for the texts of refusals (behaviour: conventions 4.4). */
import { messageTypes } from '../../../api/resources/channel.ts'
import { SendMessage } from '../../../api/resources/message.ts'

/** Of one to send; the content stands under its type. */
export const knownFields: ReadonlySet<string> = new Set([...Object.keys(SendMessage.properties), ...messageTypes])

/** In small letters and digits alone, and the field that is meant. */
export const otherFieldNames: Readonly<Record<string, string>> = {
  from: 'channel',
  sender: 'channel',
  channelid: 'channel',
  recipient: 'to',
  phone: 'to',
  phonenumber: 'to',
  destination: 'to',
  body: 'text.body',
  message: 'text.body',
  content: 'text.body',
  mediaurl: 'image.link',
  externalid: 'reference',
}
