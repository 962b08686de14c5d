// Every page by its name in the address.

import { clausePage } from "./pages/clause.js";
import { clausesPage } from "./pages/clauses.js";
import { comparePage } from "./pages/compare.js";
import { entityPage } from "./pages/entity.js";
import { exportPage } from "./pages/export.js";
import { factPage } from "./pages/fact.js";
import { homePage } from "./pages/home.js";
import { questionPage } from "./pages/question.js";
import { relationPage } from "./pages/relation.js";
import { searchPage } from "./pages/search.js";
import { trainingPage } from "./pages/training.js";
import { whatIfPage } from "./pages/whatif.js";

export const pages = {
  "": homePage,
  search: searchPage,
  entity: entityPage,
  relation: relationPage,
  question: questionPage,
  fact: factPage,
  clauses: clausesPage,
  clause: clausePage,
  whatif: whatIfPage,
  training: trainingPage,
  compare: comparePage,
  export: exportPage,
};
