import ArgumentParser
import Satchel

/// `satchel photos unlink`: ends the agreement with a master copy.
struct PhotoUnlinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlink",
    abstract: "Forget the agreement with a master copy.",
    discussion: """
      A catalogue that was synchronised with one master copy is not mixed with another, until this says that the \
      agreement is over. Then the next sync, with whichever master, counts every photo as added here.

        satchel photos unlink guide.satchel ~/Pictures

      Exit codes: 0 forgotten, or there was none; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  func run() throws {
    let user = try arguments.withCatalogue(writing: true) { photos in
      let user = try photos.status().user
      try photos.unlink()
      return user
    }
    let output = try Output()
    if arguments.json {
      let json: JSONValue = ["user": user.map { .string($0) } ?? .null]
      try output.put(json.plainText + "\n")
    } else {
      try output.put(user.map { "the agreement as \($0) is over\n" } ?? "there was no agreement\n")
    }
    try output.finish()
  }
}
