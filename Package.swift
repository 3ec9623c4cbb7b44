// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "Satchel",
  // Linux, and Macs with Homebrew's libraries. Phones have no jansson, nettle and utf8proc to link.
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Satchel", targets: ["Satchel"]),
    .library(name: "SatchelCatalogue", targets: ["SatchelCatalogue"]),
    .library(name: "SatchelStories", targets: ["SatchelStories"]),
    .library(name: "SatchelTwee", targets: ["SatchelTwee"]),
    .library(name: "SatchelJSON", targets: ["SatchelJSON"]),
    .library(name: "SatchelFoundation", targets: ["SatchelFoundation"]),
    .library(name: "satchel", type: .dynamic, targets: ["SatchelC"]),
  ],
  targets: [
    // The contract, and the system libraries: a module map each.
    .systemLibrary(name: "CSatchel", path: "Include"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"]), .brew(["jansson"])]),
    // Without pkg-config: Debian's libutf8proc.pc has a flag that the package manager warns about.
    .systemLibrary(name: "CUTF8Proc", providers: [.apt(["libutf8proc-dev"]), .brew(["utf8proc"])]),
    .systemLibrary(
      name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"]), .brew(["nettle"])]),

    // Typed calls over libraries that are opened on first use, so that only apps that use them load them.
    .target(name: "CCurl"),
    .target(name: "CImages"),
    .target(name: "CPattern"),

    // Loops over bytes with the processor's vectors.
    .target(name: "CScan"),

    // The table of Unicode's root order.
    .target(name: "CRootOrder"),

    // Ground floors.
    .target(name: "SatchelCore", dependencies: ["CNettle", "CRootOrder", "CUTF8Proc"]),
    .target(name: "SatchelJSON", dependencies: ["CJansson", "CPattern", "CScan"]),
    .target(name: "SatchelStorage", dependencies: ["SatchelCore", "SatchelJSON", "CSQLite"]),
    // Immutable bytes, which documents refer to.
    .target(
      name: "SatchelAssets",
      dependencies: ["SatchelCore", "SatchelJSON", "SatchelStorage", "CImages", "CScan"]),
    // Object stores; they know nothing of SQLite.
    .target(name: "SatchelRemote", dependencies: ["SatchelCore", "SatchelJSON", "CCurl"]),
    .target(
      name: "SatchelSync",
      dependencies: ["SatchelCore", "SatchelJSON", "SatchelRemote", "SatchelAssets", "SatchelStorage"]),
    // The engine under records and state.
    .target(
      name: "SatchelDocuments",
      dependencies: [
        "SatchelCore", "SatchelStorage", "SatchelAssets", "SatchelSync", "SatchelJSON", "CScan",
      ]),

    // Subjects.
    .target(
      name: "SatchelCatalogue",
      dependencies: [
        "SatchelCore", "SatchelRemote", "SatchelStorage", "SatchelAssets", "SatchelJSON", "CScan",
        "CUTF8Proc",
      ]),
    .target(
      name: "SatchelPhotos",
      dependencies: [
        "SatchelCore", "SatchelRemote", "SatchelStorage", "SatchelAssets", "SatchelSync", "SatchelDocuments",
        "SatchelJSON", "CCurl", "CNettle",
      ]),
    .target(
      name: "SatchelRecords",
      dependencies: ["SatchelCore", "SatchelDocuments", "SatchelStorage", "SatchelSync", "SatchelJSON"]),
    .target(
      name: "SatchelState",
      dependencies: [
        "SatchelCore", "SatchelAssets", "SatchelDocuments", "SatchelStorage", "SatchelSync", "SatchelJSON",
      ]),
    // Keeps the reader's progress and purchases in the state.
    .target(
      name: "SatchelStories",
      dependencies: ["SatchelCore", "SatchelState", "SatchelStorage", "SatchelJSON", "CScan", "CUTF8Proc"]),
    // Twine's games, as stories.
    .target(
      name: "SatchelTwee", dependencies: ["SatchelCore", "SatchelStories", "SatchelJSON", "CUTF8Proc"]),

    // The whole, and its interface for C.
    .target(
      name: "Satchel",
      dependencies: [
        "SatchelAssets", "SatchelCatalogue", "SatchelDocuments", "SatchelPhotos", "SatchelStories",
        "SatchelRecords",
        "SatchelState", "SatchelTwee",
      ]),
    .target(name: "SatchelC", dependencies: ["Satchel", "CSatchel"]),

    // JSON forms of Foundation's types, for apps that use Foundation.
    .target(name: "SatchelFoundation", dependencies: ["SatchelAssets", "SatchelCore", "SatchelJSON"]),

    // Shared by the tests of several targets.
    .target(name: "SatchelTesting", path: "Tests/SatchelTesting"),
    .testTarget(name: "SatchelJSONTests", dependencies: ["SatchelJSON", "CPattern", "SatchelTesting"]),
    .testTarget(name: "SatchelFoundationTests", dependencies: ["SatchelFoundation", "Satchel"]),
    // A VFS that injects faults.
    .target(name: "CFaultyVFS", dependencies: ["CSQLite"], path: "Tests/CFaultyVFS"),
    .target(
      name: "SatchelStorageTesting", dependencies: ["CFaultyVFS", "CSQLite"],
      path: "Tests/SatchelStorageTesting"),
    .testTarget(
      name: "SatchelStorageTests",
      dependencies: ["SatchelStorage", "SatchelStorageTesting", "SatchelTesting"]),
    .testTarget(
      name: "SatchelAssetsTests",
      dependencies: [
        "SatchelAssets", "Satchel", "CImages", "CSQLite", "SatchelRemoteTesting", "SatchelStorageTesting",
        "SatchelTesting",
      ]),
    .testTarget(
      name: "SatchelCatalogueTests",
      dependencies: [
        "SatchelCatalogue", "Satchel", "SatchelRemoteTesting", "SatchelStorageTesting", "SatchelTesting",
      ]),
    .testTarget(
      name: "SatchelStoriesTests", dependencies: ["SatchelStories", "Satchel", "SatchelTesting"]),
    .testTarget(name: "SatchelTweeTests", dependencies: ["SatchelTwee", "SatchelTesting"]),
    .target(
      name: "SatchelRemoteTesting", dependencies: ["SatchelRemote", "SatchelSync", "SatchelTesting"],
      path: "Tests/SatchelRemoteTesting"),
    .testTarget(
      name: "SatchelRemoteTests",
      dependencies: ["SatchelRemote", "SatchelRemoteTesting", "SatchelTesting"]),
    .testTarget(
      name: "SatchelPhotosTests",
      dependencies: [
        "SatchelPhotos", "SatchelRemoteTesting", "SatchelStorageTesting", "SatchelTesting", "Satchel",
      ]),
    .testTarget(
      name: "SatchelRecordsTests",
      dependencies: [
        "SatchelDocuments", "SatchelRecords", "SatchelRemoteTesting", "SatchelStorageTesting",
        "SatchelTesting",
        "Satchel",
      ]),
    .testTarget(
      name: "SatchelStateTests",
      dependencies: [
        "SatchelState", "SatchelSync", "SatchelRemoteTesting", "SatchelTesting", "CFaultyVFS",
      ]),
    // Log: the sync log with clients and remotes of the tests. Store: the synchronization of whole stores.
    .testTarget(
      name: "SatchelSyncTests",
      dependencies: [
        "SatchelSync", "SatchelAssets", "Satchel", "CSQLite", "SatchelRemoteTesting", "SatchelTesting",
      ]),
    // Store files that somebody else made: mutated, crafted, destroyed.
    .testTarget(
      name: "SatchelHostileTests", dependencies: ["Satchel", "CSQLite", "SatchelTesting"]),
  ],
  swiftLanguageModes: [.v6]
)

// A build of a few suites alone, by their names: the long searches compile theirs with optimization.
if let suites = Context.environment["SATCHEL_SUITES"] {
  package.targets.removeAll { $0.isTest && !suites.split(separator: " ").contains(Substring($0.name)) }
}

// The tool is built only where it is asked for: apps that import the library do not fetch what the tool depends on.
if Context.environment["SATCHEL_TOOL"] != nil {
  package.dependencies.append(
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"))
  package.products.append(.executable(name: "satchel-cli", targets: ["satchel-cli"]))
  package.targets.append(
    .executableTarget(
      name: "satchel-cli",
      dependencies: ["Satchel", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      resources: [.embedInCode("Demo/Photos")]))
}
