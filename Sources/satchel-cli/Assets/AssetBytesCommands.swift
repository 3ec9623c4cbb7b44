import ArgumentParser
import Satchel

/// `satchel assets get`: writes the bytes of an asset.
struct AssetGetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Write the bytes of an asset to a file or the standard output.",
    discussion: """
      The bytes are compared with the SHA-256 before they are written. With --json, the information about the \
      asset is printed instead.

        satchel assets get planner.satchel \(AssetArgument.example) -o photo.jpg
        satchel assets get planner.satchel \(AssetArgument.example) --json

      Exit codes: 0 written; 1 its bytes are not in the store; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments
  @OptionGroup var asset: AssetArgument

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("The file to write, which is replaced; - is the standard output.", valueName: "file"),
    completion: .file())
  var output: String?

  func validate() throws {
    if arguments.json, output != nil { throw ValidationError("--json and --output exclude each other") }
  }

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let asset = try asset.asset
    let info = try store.assets.info(of: asset)
    if arguments.json {
      try Terminal.print(json: info.json)
    } else if info.state == .here {
      try write(asset, of: store.assets)
    } else {
      Terminal.printError("\(self.asset.text): is \(info.state.rawValue)")
    }
    if info.state != .here { throw Terminal.attention }
  }

  private func write(_ asset: Asset, of assets: AssetStore) throws {
    guard output != nil || !Terminal.isTerminal(STDOUT_FILENO) else {
      throw SatchelError(.invalid, "the standard output is a terminal: give a file with --output")
    }
    let reader = try assets.open(asset, verifying: true)
    let output = try Output(self.output)
    var offset: Int64 = 0
    while offset < reader.size {
      let bytes = try reader.read(1 << 18, at: offset)
      try output.put(bytes)
      offset += Int64(bytes.count)
    }
    try output.finish()
  }
}

/// An asset as an argument.
struct AssetArgument: ParsableArguments {
  static let example = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

  @Argument(
    help: ArgumentHelp("The SHA-256 of the asset, or the URL that it was fetched from.", valueName: "asset"))
  var text: String

  var asset: Asset {
    get throws {
      do {
        return try Asset(json: .string(text))
      } catch let error as JSONError {
        throw SatchelError(.invalid, "\(text.printable): \(error.reason)")
      }
    }
  }

  func validate() throws {
    guard CommandLine.isUTF8(text) else { throw ValidationError("the asset is not UTF-8") }
  }
}

/// `satchel assets put`: puts files into a store.
struct AssetPutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Put files into a store as assets, and print the references.",
    discussion: """
      Prints a reference on a line for each file: the object that documents contain. Bytes that the store has \
      already are not stored again. Put the document that refers to the asset next: one to which nothing \
      refers is kept for an hour at least.

        satchel assets put planner.satchel photo.jpg --type image/jpeg
        satchel assets put planner.satchel photo.jpg algebra.json --json
        satchel assets put planner.satchel - < photo.jpg

      Exit codes: 0 put; 2 could not run, and the files before the one that failed were put.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The files; - is the standard input.", completion: .file())
  var files: [String]

  @Option(help: ArgumentHelp("The media type of the references, such as image/jpeg.", valueName: "type"))
  var type: String?

  @Flag(help: "Create the store if it does not exist.")
  var create = false

  func run() throws {
    Interruption.installHandlers()
    let assets = try arguments.change(creating: create) { store in
      try files.map { try put($0, into: store.assets) }
    }
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(assets.map(\.json)).plainText + "\n")
    } else {
      for asset in assets { try output.put(asset.json.plainText + "\n") }
    }
    try output.finish()
  }

  private func put(_ file: String, into assets: AssetStore) throws -> Asset {
    let path = FilePath(argument: file)
    let descriptor = file == "-" ? STDIN_FILENO : path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    let name = file == "-" ? "the standard input" : path.text.printable
    guard descriptor >= 0 else {
      throw SatchelError(errno == ENOENT ? .notFound : .io, "\(name): \(FileBytes.reason(errno))")
    }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    return try assets.put(type: type) { writer in
      while true {
        let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        if Interruption.isRequested {
          Terminal.printError("interrupted: \(name) was not put")
          Interruption.raiseSignal()
        }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw SatchelError(.io, "\(name): \(FileBytes.reason(errno))") }
        if count == 0 { return }
        try buffer.withUnsafeBytes { try writer.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      }
    }
  }
}
