/** Of what a message says, wherever one is written. */
export const content = {
  type: 'Type',
  message: 'Message',
  asJson: 'The content of this type, as JSON.',
  notJson: 'This is not JSON. Check its brackets, quotes and commas.',
  nothing: 'What you write is shown here.',
  template: 'Template',
  choose: 'Choose one',
  noneApproved: 'No template of this channel is approved yet.',
  templateGone: 'The channel no longer has this template. Choose another one before this is sent.',
  templateStatus: (status: string) =>
    `This template is ${status} and cannot be sent now. Choose another one, or wait until it is approved again.`,
  fileAddress: (kind: string) => `The https address of the ${kind}.`,
  upload: 'Upload',
  uploadHint: 'A picture, audio, video or document becomes a link in the message.',
  uploading: 'Uploading …',
  uploaded: (until: string) => `The file is linked. It is deleted on ${until}.`,
  noPlace: 'There is no place for a file here: choose attachments, or a template or type whose header shows one.',
  wrongKind: (kind: string) => `A file of type ${kind} does not fit there.`,
} as const
