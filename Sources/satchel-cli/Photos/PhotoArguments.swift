import ArgumentParser
import Satchel

/// The arguments of every command for a photo catalogue: the store and the catalogue's directory.
struct PhotoArguments: ParsableArguments {
  @OptionGroup var store: StoreArguments

  @Argument(help: "The directory of the photos.", completion: .directory)
  var directory: String

  var json: Bool { store.json }

  /// Opens the store and the catalogue, runs `body`, and closes them.
  ///
  /// - Parameters:
  ///   - writing: whether the command changes the catalogue
  ///   - creating: whether to create a store that does not exist; nil when the command never does
  func withCatalogue<Result>(
    writing: Bool = false, creating: Bool? = nil, _ body: (PhotoCatalogue) throws -> Result
  ) throws -> Result {
    let store = try self.store.open(writing: writing, creating: creating)
    do {
      let photos = try store.photos(in: directory)
      let result = try body(photos)
      try photos.close()
      try store.close()
      return result
    } catch {
      try? store.close()
      throw error
    }
  }
}

/// The option to create a store. Without it a mistyped path is an error.
struct CreationArguments: ParsableArguments {
  @Flag(help: "Create the store if it does not exist.")
  var create = false

  /// Checks that a command's input exists before a store is created.
  func check(_ path: String) throws {
    guard !create || access(path, F_OK) == 0 else {
      throw SatchelError(.notFound, "\(path.printable): does not exist")
    }
  }
}
