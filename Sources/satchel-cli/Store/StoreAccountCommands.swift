import ArgumentParser
import Satchel

/// `satchel store sign-out`: removes what is the user's from a store.
struct StoreSignOutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out",
    abstract: "Remove what is the user's from the store.",
    discussion: """
      Removes all records, the state that is synchronized or sensitive, the rows of photo catalogues that were \
      synced, the reader's progress and purchases; their bytes leave the file. The catalogue of content, other \
      state, and photo catalogues that were never synced stay. Nothing is deleted in the remote. Changes that \
      were never sent are refused: sync first, or discard them.

        satchel sync planner.satchel --user ana --remote /mnt/shared/planner
        satchel store sign-out planner.satchel --discard-unsent

      Exit codes: 0 signed out; 1 changes were never sent; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Discard changes that were never sent.")
  var discardUnsent = false

  func run() throws {
    let unsent: UnsentChanges = discardUnsent ? .discard : .refuse
    try arguments.change { store in
      do {
        try store.signOut(unsent: unsent)
      } catch let error as SatchelError where error.code == .conflict {
        throw SatchelError(.conflict, "\(error.message) (--discard-unsent)")
      }
    }
    let output = try Output()
    let json: JSONValue = ["signed_out": true]
    try output.put((arguments.json ? json.plainText : "\(arguments.store.printable): signed out") + "\n")
    try output.finish()
  }
}

/// `satchel store delete-account`: deletes what a user has in a remote.
struct StoreDeleteAccountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete-account",
    abstract: "Delete everything that a user has in a remote.",
    discussion: """
      Closes the account, so that no device of the user writes to it again, and deletes all other objects of the \
      user, photos included. The store stays as it is: see "store sign-out". A store that belongs to another \
      user is refused. An interrupted command can be repeated.

        satchel store delete-account planner.satchel --user ana --remote s3://planner

      The credentials of an S3 store are read from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
      AWS_SESSION_TOKEN, or from ~/.aws/credentials, never from the command line.

      Exit codes: 0 the account is deleted; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments
  @OptionGroup var remote: RemoteArguments
  @OptionGroup var transfer: TransferArguments

  func run() throws {
    _ = try transfer.run(
      StoreSyncOptions(), json: arguments.json,
      text: { "\(remote.user): account closed, \(Terminal.count($0.objects, "object")) deleted" }
    ) { options, progress in
      try arguments.change { store in
        try store.deleteAccount(
          from: remote.open(), user: UserID(remote.user), options: options, progress: progress)
      }
    }
  }
}
