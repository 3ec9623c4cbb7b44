import ArgumentParser
import Satchel

/// `satchel region build`: makes the file of a region from a folder.
struct RegionBuildCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "build",
    abstract: "Make the file of an offline region from a folder of deliveries and pictures.",
    discussion: """
      Each file of the folder whose name ends in .json is a delivery: {"location": {...}, "sections": [...]}. They are \
      stored in the order of their names. A reference {"_asset": {"file": "pictures/bridge.jpg"}} becomes one to the \
      bytes of that file, whose path is relative to the folder.

        satchel region build porto/ --name porto -o porto.region

      Exit codes: 0 written; 1 a delivery has a problem, which is printed; 2 could not run. The file is what it was then.
      """)

  @Argument(help: "The folder.", completion: .directory)
  var folder: String

  @Option(help: "The name of the region; by default that of the folder.")
  var name: String?

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var output: String

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func run() throws {
    let base = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    let name = name ?? base.split(separator: "/").last.map(String.init) ?? "region"
    // Beside the file, because it may need as much space as the region.
    let part = output + ".\(UInt64.random(in: 0 ... .max)).build"
    var options = StoreOptions()
    options.durability = .relaxed
    let store = try Store(path: part, options: options)
    defer {
      try? store.close()
      RegionBuild.remove(part)
    }
    var build = RegionBuild(store: store, folder: base)
    try build.run()
    guard build.problems.isEmpty else {
      for problem in build.problems { Terminal.printError(problem.printable) }
      throw Terminal.attention
    }
    guard !build.areas.isEmpty else {
      throw SatchelError(.invalid, "\(folder.printable): has no file whose name ends in .json")
    }
    let region = try store.catalogue.regions.create(name, RegionDefinition(areas: build.areas))
    try RegionCommand.print(try region.export(to: output), output, json: json)
  }
}

/// Stores the deliveries of a folder.
private struct RegionBuild {
  let store: Store
  let folder: String
  var areas: [RegionDefinition.Area] = []
  var problems: [String] = []
  /// The references to files that were stored already.
  private var known: [String: JSONObject] = [:]

  init(store: Store, folder: String) { (self.store, self.folder) = (store, folder) }

  mutating func run() throws {
    for name in try DiskFile(folder, O_RDONLY | O_DIRECTORY).names().ordered()
    where name.hasSuffix(".json") && !name.hasPrefix(".") {
      let path = folder + "/" + name
      do {
        try deliver(path)
      } catch let error as SatchelError {
        problems.append("\(path): \(error.message)")
      } catch let error as JSONError {
        problems.append("\(path): \(error)")
      }
    }
  }

  private mutating func deliver(_ path: String) throws {
    let delivery = try replacing(
      JSONValue(parsing: FileBytes.contents(of: FilePath(bytes: Array(path.utf8)))), 0)
    let location = try Location(json: delivery["location"] ?? .null)
    for receipt in try store.catalogue.deliver(delivery, complete: true) {
      for problem in receipt.problems { problems.append("\(path): at \(problem.pointer): \(problem.reason)") }
    }
    areas.append(RegionDefinition.Area(location))
  }

  /// Returns a value whose references to files are references to their bytes. The parser has bounded the depth.
  private mutating func replacing(_ value: JSONValue, _ depth: Int) throws -> JSONValue {
    switch value {
    case .object(let members):
      var replaced = JSONObject()
      for (key, member) in members {
        if key == "_asset", let file = member["file"]?.stringValue {
          replaced[key] = .object(try asset(file, member.objectValue ?? JSONObject()))
        } else {
          replaced[key] = try replacing(member, depth + 1)
        }
      }
      return .object(replaced)
    case .array(let elements): return .array(try elements.map { try replacing($0, depth + 1) })
    default: return value
    }
  }

  private mutating func asset(_ file: String, _ members: JSONObject) throws -> JSONObject {
    let parts = file.split(separator: "/", omittingEmptySubsequences: false)
    guard !file.isEmpty, !parts.contains(""), !parts.contains(".."), !file.utf8.contains(0) else {
      throw SatchelError(.invalid, "\(file): is not the path of a file of the folder")
    }
    var members = members
    members.removeValue(forKey: "file")
    let found: JSONObject
    if let before = known[file] {
      found = before
    } else {
      let asset = try store.assets.put(contentsOf: folder + "/" + file)
      var made = JSONObject()
      made["sha256"] = asset.sha256.map { .string($0) }
      made["size"] = asset.size.map { .int($0) }
      found = made
      known[file] = made
    }
    for (key, value) in found { members[key] = value }
    return members
  }

  /// Removes the temporary store.
  static func remove(_ part: String) {
    for suffix in ["", "-wal", "-shm", "-journal", ".outbox"] { unlink(part + suffix) }
    let folder = part + ".assets"
    for name in (try? DiskFile(folder, O_RDONLY | O_DIRECTORY).names()) ?? [] {
      for file in (try? DiskFile(folder + "/" + name, O_RDONLY | O_DIRECTORY).names()) ?? [] {
        unlink(folder + "/" + name + "/" + file)
      }
      unlink(folder + "/" + name)
      rmdir(folder + "/" + name)
    }
    rmdir(folder)
  }
}
