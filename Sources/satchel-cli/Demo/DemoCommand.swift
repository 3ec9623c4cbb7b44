import ArgumentParser
import Satchel

/// `satchel demo`: writes a folder with stores, photos and stories to try the tool with.
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Write a folder with examples: a guide, a planner, an album and tales.",
    discussion: """
      Writes a travel guide with its album of photos, a study planner on two devices that share a remote \
      directory, and two stories, and prints five commands to try. The folder is created; one that exists must \
      be empty. Nothing else is written, and there are no requests to a network.

        satchel demo satchel-demo

      Exit codes: 0 written; 2 could not run, for example because the folder is not empty.
      """)

  @Argument(help: "The folder to write to; must not exist, or be empty.", completion: .directory)
  var folder: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func run() throws {
    let folder = try DemoFolder(folder)
    let guide = try DemoGuide(in: folder)
    try guide.write()
    try DemoAlbum(in: folder).write(to: guide.path)
    try DemoPlanner(in: folder).write()
    try DemoTales(in: folder).write()
    let commands = DemoCommands(folder: folder)
    let output = try Output()
    try output.put(json ? commands.json.plainText + "\n" : commands.text)
    try output.finish()
  }
}

/// The folder that the demo writes to.
struct DemoFolder {
  /// The path as it was given, without trailing slashes.
  let path: String

  /// Creates the folder.
  ///
  /// - Throws: `SatchelError` `.invalid` for a name that a command line cannot show, and for a folder that is not
  ///   empty; `.io`
  init(_ argument: String) throws {
    guard CommandLine.isUTF8(argument), !argument.isEmpty,
      !argument.unicodeScalars.contains(where: \.isTerminalControl)
    else {
      throw SatchelError(
        .invalid, "\(argument.printable): the name is empty, not UTF-8, or has control characters")
    }
    var path = argument
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    // Not read as an option by the commands that are printed.
    self.path = path.utf8.first == UInt8(ascii: "-") ? "./\(path)" : path
    try Self.create(self.path)
  }

  /// Creates a folder below it.
  func folder(_ name: String) throws -> String {
    let path = file(name)
    guard mkdir(path, 0o777) == 0 else { throw Self.failure(path) }
    return path
  }

  func file(_ name: String) -> String { path == "/" ? "/\(name)" : "\(path)/\(name)" }

  private static func create(_ path: String) throws {
    if mkdir(path, 0o777) == 0 { return }
    guard errno == EEXIST else { throw failure(path) }
    guard let stream = opendir(path) else {
      throw errno == ENOTDIR ? SatchelError(.invalid, "\(path.printable): is not a folder") : failure(path)
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { continue }
      throw SatchelError(
        .invalid, "\(path.printable): is not empty; the demo writes to a new folder, or to an empty one")
    }
  }

  private static func failure(_ path: String) -> SatchelError {
    SatchelError(.io, "\(path.printable): \(FileBytes.reason(errno))")
  }
}
