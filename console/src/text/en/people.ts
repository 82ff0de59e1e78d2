/** Of signing in, and of what is done before. */
export const people = {
  setUp: {
    title: 'Set up Posthorn',
    why: 'You will own the first account and administer this installation.',
    create: 'Create owner',
    noToken: 'This address has no token. Open the whole link that the service printed when it started.',
  },
  signIn: {
    title: 'Sign in',
    again: 'Sign in again',
    againWhy: 'Your session has ended. What you have entered is kept.',
    forgot: 'Forgot your password?',
    with: (provider: string) => `Sign in with ${provider}`,
    withFailed: {
      title: 'You are not signed in',
      invalid_credentials:
        'Nobody has linked this identity, or the provider refused it. Sign in with your password, then link it on your profile.',
      oauth_pending_expired: 'That took too long, or began in another window. Start again.',
      upstream_unavailable: 'The provider does not answer. Try again in a while, or sign in with your password.',
    },
    code: 'Authentication code',
    codeWhy: 'From your authenticator app.',
    verify: 'Verify',
    recoveryInstead: 'Use a recovery code',
    recovery: 'Recovery code',
  },
  reset: {
    title: 'Choose a new password',
    why: 'We send you a link by which you choose a new password. It works once, for an hour.',
    send: 'Send link',
    asked: 'If somebody signs in with this address, a link is on its way.',
    next: 'New password',
    save: 'Save',
  },
  invitation: {
    unknown: 'Join',
    title: (account: string) => `Join ${account}`,
    noToken: 'This address has no token. Open the whole link that you were given.',
    why: (email: string, role: string) => `As ${email}, in the role ${role}.`,
    yours: 'You have a password here already: give that.',
    accept: 'Accept invitation',
  },
  again: {
    title: 'Confirm that it is you',
    why: 'This is done only by who has just given the password.',
    confirm: 'Confirm',
  },
  name: 'Your name',
  email: 'E-mail',
  password: 'Password',
  passwordHint: '12 characters at least.',
} as const
