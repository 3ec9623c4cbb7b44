import ArgumentParser
import Satchel

/// `satchel photos trash`.
struct PhotoTrashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trash",
    abstract: "List, restore or forget the rows of photos that were removed.",
    discussion: """
      A row that was removed, by a scan, by a sync or by a program, stays in the trash for 30 days, with its star \
      and its place in the backup. The trash has rows; no command deletes the files of photos.

        satchel photos trash list guide.satchel ~/Pictures
        satchel photos trash restore guide.satchel ~/Pictures 0123456789abcdef0123456789abcdef
        satchel photos trash restore guide.satchel ~/Pictures --all
        satchel photos trash empty guide.satchel ~/Pictures
      """,
    subcommands: [
      PhotoTrashListCommand.self, PhotoTrashRestoreCommand.self, PhotoTrashEmptyCommand.self,
    ])
}

/// `satchel photos trash list`.
struct PhotoTrashListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the rows of photos that were removed.",
    discussion: """
      Prints when each row was removed, in UTC, and the photo's MD5 and name; with --json an array.

        satchel photos trash list guide.satchel ~/Pictures

      Exit codes: 0 listed; 1 the trash is empty; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  func run() throws {
    let output = try Output()
    let photos = try arguments.withCatalogue { catalogue in
      var photos: [TrashedPhoto] = []
      while true {
        let page = try catalogue.trash(after: photos.last?.photo.md5)
        if page.isEmpty { return photos }
        photos += page
      }
    }
    if arguments.json {
      try output.put(JSONValue.array(photos.map(\.json)).plainText + "\n")
    } else {
      for photo in photos {
        let name = photo.photo.filename.printable
        try output.put("\(Terminal.time(photo.removed))  \(photo.photo.md5)  \(name)\n")
      }
    }
    try output.finish()
    if photos.isEmpty {
      if !arguments.json { Terminal.printError("the trash is empty") }
      throw Terminal.attention
    }
  }
}

/// `satchel photos trash restore`.
struct PhotoTrashRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restore rows of photos.",
    discussion: """
      The rows return with their stars; the next sync sends them. A photo that was deleted on this device while its \
      file stayed is added again by the next scan, too.

        satchel photos trash restore guide.satchel ~/Pictures --all

      Exit codes: 0 restored; 1 no row was restored; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Argument(help: ArgumentHelp("MD5s of photos.", valueName: "md5"))
  var md5s: [String] = []

  @Flag(help: "Restore the whole trash.")
  var all = false

  func validate() throws {
    if all != md5s.isEmpty { throw ValidationError("name photos by their MD5, or all with --all") }
    for md5 in md5s where MD5(md5) == nil {
      throw ValidationError("\(md5.printable): not an MD5 of 32 hexadecimal digits")
    }
  }

  func run() throws {
    let restored = try arguments.withCatalogue(writing: true) {
      Int64(try $0.restoreRows(all ? nil : md5s.compactMap { MD5($0) }))
    }
    try arguments.report(restored, "restored")
  }
}

/// `satchel photos trash empty`.
struct PhotoTrashEmptyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "empty",
    abstract: "Forget the rows of photos that were removed.",
    discussion: """
      No file is deleted, neither here nor in the remote.

        satchel photos trash empty guide.satchel ~/Pictures

      Exit codes: 0 emptied; 1 the trash was empty; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  func run() throws {
    try arguments.report(try arguments.withCatalogue(writing: true) { try $0.emptyTrash() }, "forgotten")
  }
}

extension PhotoArguments {
  /// Prints how many photos a command has changed.
  fileprivate func report(_ count: Int64, _ verb: String) throws {
    let output = try Output()
    let text = "\(Terminal.count(Int(count), "photo")) \(verb)"
    try output.put((json ? (["photos": .int(count)] as JSONValue).plainText : text) + "\n")
    try output.finish()
    if count == 0 { throw Terminal.attention }
  }
}
