import ArgumentParser
import Satchel

/// `satchel photos detach`: detaches a catalogue from its remote.
struct PhotoDetachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "detach",
    abstract: "Detach the catalogue from its remote.",
    discussion: """
      A catalogue that was synced with one remote and user refuses to sync with another until it is \
      detached. The next sync, with any remote, then treats every photo as added locally. No photo changes, \
      here or on the remote.

        satchel photos detach guide.satchel ~/Pictures

      Exit codes: 0 detached, or the catalogue was not attached to a remote; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  func run() throws {
    let user = try arguments.withCatalogue(writing: true) { photos in
      let user = try photos.status().user
      try photos.detach()
      return user
    }
    let output = try Output()
    if arguments.json {
      let json: JSONValue = ["user": user.map { .string($0) } ?? .null]
      try output.put(json.plainText + "\n")
    } else {
      try output.put(user.map { "detached from the remote of user \($0)\n" } ?? "not attached to a remote\n")
    }
    try output.finish()
  }
}
