import ArgumentParser
import Satchel

/// `satchel photos move`: gives a catalogue another directory.
struct PhotoMoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Tell the catalogue that its folder is elsewhere now.",
    discussion: """
      For a folder that was renamed, or a disk that is mounted at another place: stars, backups and the remote \
      stay those of its photos. No file is moved or read; the next scan finds the files in the new folder.

        satchel photos move guide.satchel ~/Pictures /media/disk/Pictures

      Exit codes: 0 moved; 2 could not run, for one where the new folder has a catalogue already.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Argument(help: "The directory in which the photos are now.", completion: .directory)
  var newDirectory: String

  func run() throws {
    let (old, new) = try arguments.withCatalogue(writing: true) { photos in
      let old = photos.directory
      try photos.move(to: newDirectory)
      return (old, photos.directory)
    }
    let output = try Output()
    if arguments.json {
      let json: JSONValue = ["from": .string(old), "to": .string(new)]
      try output.put(json.plainText + "\n")
    } else {
      try output.put("\(old.printable) is now \(new.printable)\n")
    }
    try output.finish()
  }
}
